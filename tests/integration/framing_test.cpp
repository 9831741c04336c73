// The framing table against the real program: one request never becomes two, nor two one.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/framing_cases.hpp"
#include "support/http_client.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <string>

using namespace weir;
using namespace weir::test;
using Expect = HttpClient::Expect;

namespace {

const std::string kSmuggledCall = rpc("x_smuggled");

// One daemon before one provider that echoes what it does not know.
struct House {
    House() { REQUIRE(daemon.wait_until_ready()); }
    static simulator::Script echoing() {
        simulator::Script script;
        script.unknown = simulator::UnknownMethods::echo;
        return script;
    }

    std::uint16_t port() const {
        const std::string& address = daemon.rpc_address();
        return static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
    }
    std::uint64_t calls_of(std::string_view method) const {
        return provider.counts().calls_of(method);
    }
    bool nothing_was_smuggled() const {
        if (calls_of("x_smuggled") != 0) {
            return false;
        }
        for (const simulator::Message& message : provider.messages()) {
            if (message.body.find("x_smuggled") != std::string::npos) {
                return false;
            }
        }
        return true;
    }

    Simulators simulators;
    simulator::Provider& provider = simulators.add(echoing());
    Daemon daemon{DaemonConfig::with({provider.url()})};
};

// The table's bytes, with a real call where its smuggled body stands.
std::string with_real_smuggling(std::string bytes) {
    const std::string marker = plain_post(kSmuggled);
    const std::size_t at = bytes.find(marker);
    return at == std::string::npos ? bytes
                                   : bytes.replace(at, marker.size(), plain_post(kSmuggledCall));
}

// A valid call on this connection is answered, and by nobody else's answer.
bool is_in_step(HttpClient& client, int number) {
    client.send(plain_post(rpc("x_next", "[]", std::to_string(number))));
    const auto answer = client.read_answer();
    return answer && answer->status == 200 && id_of(answer->body) == std::to_string(number);
}

}  // namespace

TEST_CASE("framing table against the program", "[daemon]") {
    const House house;
    int number = 1000;
    for (const FramingCase& one : framing_cases()) {
        INFO(one.name);
        HttpClient client(house.port());
        client.send(with_real_smuggling(one.bytes));
        const auto answer =
            client.read_answer(one.bytes.starts_with("HEAD ") ? Expect::head_only : Expect::body);
        REQUIRE(answer);
        // The table's good bodies are no calls.
        CHECK(answer->status == (one.status == 200 ? 400 : one.status));
        if (one.status == 200) {
            const std::string type = type_of(answer->body);
            CHECK((type == "parse_error" || type == "invalid_request"));
        } else if (!answer->body.empty()) {
            CHECK(type_of(answer->body) != "parse_error");
            CHECK(id_of(answer->body) == "null");
        }
        if (one.after == FramingCase::After::closed) {
            CHECK(client.is_closed_by_peer());
        } else {
            CHECK(is_in_step(client, ++number));
        }
    }
    CHECK(house.nothing_was_smuggled());
    CHECK(house.calls_of("x_next") == static_cast<std::uint64_t>(number - 1000));
}

TEST_CASE("every split of a request is one call upstream", "[daemon]") {
    const House house;
    const std::string call = rpc("x_split");
    const std::string chunked =
        "POST /ethereum HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        "a;x=y\r\n" +
        call.substr(0, 10) + "\r\n" + "1\r\n" + call.substr(10, 1) + "\r\n2c\r\n" +
        call.substr(11) + "\r\n0\r\nX-T: 1\r\n\r\n";
    REQUIRE(call.size() - 11 == 0x2c);
    std::size_t sent = 0;
    for (const std::string& request : {plain_post(call), chunked}) {
        HttpClient client(house.port());
        for (std::size_t at = 1; at < request.size(); ++at, ++sent) {
            INFO("split at " << at);
            client.send(request.substr(0, at));
            client.send(request.substr(at));
            const auto answer = client.read_answer();
            REQUIRE(answer);
            REQUIRE(result_of(answer->body) == R"({"method":"x_split","params":[]})");
        }
    }
    CHECK(house.calls_of("x_split") == sent);
}

TEST_CASE("fifty pipelined calls come back in order", "[daemon]") {
    const House house;
    HttpClient client(house.port());
    std::string all;
    for (int i = 0; i < 50; ++i) {
        all += plain_post(rpc(i % 3 == 0 ? "eth_chainId" : "x_piped", "[]", std::to_string(i)));
    }
    client.send(all);
    for (int i = 0; i < 50; ++i) {
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(id_of(answer->body) == std::to_string(i));
    }
    CHECK(house.calls_of("x_piped") == 33);
    CHECK(is_in_step(client, 50));
    client.send(
        "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n"
        "\r\n{}" +
        plain_post(kSmuggledCall));
    REQUIRE(client.read_answer());
    CHECK(client.is_closed_by_peer());
    CHECK(house.nothing_was_smuggled());
}

TEST_CASE("an upgrade is not taken up; what follows is a request of its own", "[daemon]") {
    const House house;
    const std::string call = rpc("x_first");
    for (const std::string fields :
         {"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: "
          "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n",
          "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"}) {
        HttpClient client(house.port());
        client.send("POST / HTTP/1.1\r\nHost: localhost\r\n" + fields + "Content-Length: " +
                    std::to_string(call.size()) + "\r\n\r\n" + call + plain_post(rpc("x_second")));
        for (const std::string method : {"x_first", "x_second"}) {
            const auto answer = client.read_answer();
            REQUIRE(answer);
            CHECK(answer->status == 200);
            CHECK(result_of(answer->body) == R"({"method":")" + method + R"(","params":[]})");
        }
    }
    CHECK(house.calls_of("x_second") == 2);
}

TEST_CASE("a client that waits for 100 Continue", "[daemon]") {
    const House house;
    const std::string call = rpc("x_expected");
    const std::string head =
        "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ";
    HttpClient client(house.port());
    client.send(head + std::to_string(call.size()) + "\r\n\r\n");
    auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 100);
    client.send(call);
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(is_in_step(client, 1));
    client.send(head + "99999999\r\n\r\n");
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 413);
    client.send(plain_post(kSmuggledCall));
    CHECK(client.is_closed_by_peer());
    CHECK(house.nothing_was_smuggled());
}

TEST_CASE("a client that closes its side still gets its answers", "[daemon]") {
    House house;
    house.provider.change(
        [](simulator::Script& s) { s.method_latency["x_slow"] = std::chrono::milliseconds(50); });
    HttpClient client(house.port());
    client.send(plain_post(rpc("x_slow", "[]", "1")) + plain_post(rpc("x_slow", "[]", "2")));
    client.half_close();
    for (const char* id : {"1", "2"}) {
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(id_of(answer->body) == id);
    }
    CHECK(client.is_closed_by_peer());
}

TEST_CASE("a body that ends too early is never sent on", "[daemon]") {
    const House house;
    const std::string call = rpc("x_short");
    const std::string longer =
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(call.size() + 1) +
        "\r\n\r\n" + call;
    const std::string chunked =
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n37\r\n" + call +
        "\r\n";
    REQUIRE(call.size() == 0x37);
    for (const std::string& begun :
         {longer, chunked, chunked + "0\r\n", chunked + "0\r\nX: y\r\n"}) {
        INFO(begun);
        HttpClient client(house.port());
        client.send(begun);
        client.half_close();
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->status == 400);
        CHECK(type_of(answer->body) == "http_error");
        CHECK(client.is_closed_by_peer());
        HttpClient rude(house.port());
        rude.send(begun);
        rude.reset();
    }
    HttpClient after(house.port());
    CHECK(is_in_step(after, 1));
    CHECK(house.calls_of("x_short") == 0);
}

TEST_CASE("bytes behind a request are the next request, whole or not at all", "[daemon]") {
    const House house;
    HttpClient client(house.port());
    client.send(plain_post(rpc("x_first")) + "\r\n" + plain_post(rpc("x_second")));
    CHECK(client.read_answer());  // one empty line between requests is allowed
    auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    client.send(plain_post(rpc("x_first")) + "extra" + plain_post(kSmuggledCall));
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 405);  // the method extraPOST, and its body
    CHECK(is_in_step(client, 1));
    CHECK(house.nothing_was_smuggled());
    CHECK(house.calls_of("x_first") == 2);
}
