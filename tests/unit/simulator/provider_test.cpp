#include "simulator/provider.hpp"

#include "jsonrpc/reply.hpp"
#include "jsonrpc/value.hpp"
#include "support/catch.hpp"
#include "support/raw_client.hpp"
#include "support/simulators.hpp"
#include "support/wait.hpp"

#include <chrono>
#include <string>

using namespace weir;
using namespace weir::simulator;
using namespace std::chrono_literals;
using test::HttpResponse;
using test::RawClient;
using test::Simulators;

namespace {

std::string call(std::string_view method, std::string_view params = "[]",
                 std::string_view id = "1") {
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) +
           R"(","params":)" + std::string(params) + "}";
}

std::string result(std::string_view value, std::string_view id = "1") {
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)" + std::string(value) +
           "}";
}

HttpResponse ask(const Provider& provider, std::string_view body) {
    return RawClient(provider.port()).post("/", body);
}

}  // namespace

TEST_CASE("a provider answers over a connection that it keeps") {
    Simulators simulators;
    Provider& provider = simulators.add();
    RawClient client(provider.port());
    for (int i = 0; i < 3; ++i) {
        const HttpResponse response = client.post("/v2/key", call("eth_chainId", "[]", "77"));
        CHECK(response.status == 200);
        CHECK(response.field("content-type") == "application/json");
        CHECK(response.body == result(R"("0x1")", "77"));
    }
    // Pipelined, and in pieces.
    const std::string body = call("eth_blockNumber");
    const std::string request =
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\n\r\n" + body;
    client.send(request + request.substr(0, 30));
    CHECK(client.read_response().body == result(R"("0x3e8")"));
    client.send(request.substr(30));
    CHECK(client.read_response().body == result(R"("0x3e8")"));
    client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
    REQUIRE(body.size() == 0x3f);
    client.send("5\r\n" + body.substr(0, 5) + "\r\n");
    client.send("3A;x=y\r\n" + body.substr(5) + "\r\n0\r\n\r\n");
    CHECK(client.read_response().body == result(R"("0x3e8")"));
    CHECK(client.is_closed());

    const Counts counts = provider.counts();
    CHECK(counts.connections == 1);
    CHECK(counts.requests == 6);
    CHECK(counts.calls_of("eth_chainId") == 3);
    CHECK(counts.calls_of("eth_call") == 0);
    REQUIRE(provider.messages().size() == 6);
    CHECK(provider.messages()[0].head.find("POST /v2/key HTTP/1.1") == 0);
    CHECK(provider.messages()[3].body == body);
}

TEST_CASE("a peer that sends nonsense is left") {
    Simulators simulators;
    Provider& provider = simulators.add();
    for (const std::string& bytes :
         {std::string("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"), std::string(100'000, 'x'),
          std::string("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"),
          std::string("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")}) {
        RawClient client(provider.port());
        client.send(bytes);
        CHECK(client.is_closed());
    }
    CHECK(ask(provider, "{").status == 400);
}

TEST_CASE("the script may change while the provider runs") {
    Simulators simulators;
    Provider& provider = simulators.add();
    RawClient client(provider.port());
    CHECK(client.post("/", call("eth_chainId")).body == result(R"("0x1")"));
    provider.change([](Script& script) { script.chain_id = 5; });
    CHECK(client.post("/", call("eth_chainId")).body == result(R"("0x5")"));
}

TEST_CASE("a provider goes down and comes back on its port") {
    Simulators simulators;
    Script script;
    script.availability = Availability::down;
    Provider& provider = simulators.add(script);
    const auto is_up = [&provider] {
        try {
            return ask(provider, call("eth_chainId")).status == 200;
        } catch (const std::runtime_error&) {
            return false;
        }
    };
    CHECK_FALSE(is_up());
    for (int i = 0; i < 3; ++i) {
        provider.change([](Script& s) { s.availability = Availability::up; });
        CHECK(test::wait_until(is_up));
        RawClient standing(provider.port());
        CHECK(standing.post("/", call("eth_chainId")).status == 200);
        provider.change([](Script& s) { s.availability = Availability::down; });
        CHECK(standing.is_closed());
        CHECK_FALSE(is_up());
    }
}

TEST_CASE("providers of one chain agree, a lagging one later") {
    Simulators simulators;
    Provider& first = simulators.add();
    Script behind;
    behind.lag_blocks = 2;
    Provider& second = simulators.add(behind);
    const std::string latest = call("eth_getBlockByNumber", R"(["latest",false])");
    CHECK(ask(first, latest).body != ask(second, latest).body);
    CHECK(ask(second, call("eth_blockNumber")).body == result(R"("0x3e6")"));
    CHECK(ask(second, call("eth_getBlockByNumber", R"(["0x3e8",false])")).body == result("null"));
    simulators.chain().mine(2);
    CHECK(ask(first, call("eth_getBlockByNumber", R"(["0x3e8",false])")).body ==
          ask(second, latest).body);
}

TEST_CASE("latency is kept") {
    Simulators simulators;
    Script script;
    script.latency = 100ms;
    script.method_latency["eth_call"] = 0ms;
    Provider& provider = simulators.add(script);
    RawClient client(provider.port());
    const auto time = [&client](std::string_view method) {
        const auto start = std::chrono::steady_clock::now();
        client.post("/", call(method));
        return std::chrono::steady_clock::now() - start;
    };
    CHECK(time("eth_blockNumber") >= 100ms);
    CHECK(time("eth_call") < 100ms);
}

TEST_CASE("faults go over the wire") {
    Simulators simulators;
    Script script;
    script.faults.methods = {"eth_call"};
    Provider& provider = simulators.add(script);
    const auto with = [&provider](Crooked crooked) {
        provider.change([crooked](Script& s) { s.faults.crooked = crooked; });
        RawClient client(provider.port());
        return client.post("/", call("eth_call"));
    };
    CHECK(with(Crooked::html).body.find("<html>") != std::string::npos);
    CHECK(with(Crooked::redirect).status == 307);
    CHECK(with(Crooked::odd_status).status == 500);
    CHECK(with(Crooked::gzip).field("content-encoding") == "gzip");
    CHECK(with(Crooked::length_long).end == HttpResponse::End::cut);
    CHECK(with(Crooked::cut_midway).end == HttpResponse::End::cut);

    SECTION("silence") {
        provider.change([](Script& s) { s.faults.crooked = Crooked::stall; });
        RawClient client(provider.port());
        CHECK_THROWS(client.send(""), client.read_response(50ms));
    }
    SECTION("a body without an end") {
        provider.change([](Script& s) { s.faults.crooked = Crooked::endless; });
        RawClient client(provider.port());
        const std::string body = call("eth_call");
        client.send("POST / HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) +
                    "\r\n\r\n" + body);
        CHECK_THROWS(client.read_response(100ms));
    }
    SECTION("only for the methods named") {
        CHECK(ask(provider, call("eth_chainId")).body == result(R"("0x1")"));
    }
    SECTION("dropped") {
        provider.change([](Script& s) {
            s.faults.crooked = Crooked::none;
            s.faults.drop_next = 1;
        });
        CHECK(ask(provider, call("eth_call")).end == HttpResponse::End::cut);
        CHECK(ask(provider, call("eth_call")).status == 200);
        CHECK(provider.counts().dropped == 1);
    }
}

TEST_CASE("a large reply arrives whole, in either framing") {
    Simulators simulators;
    Script script;
    script.logs_bytes = 6'000'000;
    Provider& provider = simulators.add(script);
    for (const Framing framing : {Framing::length, Framing::chunked}) {
        provider.change([framing](Script& s) { s.framing = framing; });
        const HttpResponse response = ask(provider, call("eth_getLogs"));
        CHECK(response.body.size() > 6'000'000);
        const auto reply = jsonrpc::parse_reply(response.body);
        REQUIRE(reply.has_value());
        CHECK(jsonrpc::is_array(reply->result));
    }
}
