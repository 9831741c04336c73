// The HTTP server under limits of time, memory and number, and its end.
#include "support/catch.hpp"
#include "support/framing_cases.hpp"
#include "support/http_client.hpp"
#include "support/http_server.hpp"
#include "support/wait.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace weir;
using namespace weir::test;

namespace {

// A short time for what a test waits to see expire.
constexpr core::Duration kShort = std::chrono::milliseconds(150);

bool has_smuggled(const EchoHandler& handler) {
    const std::vector<std::string> bodies = handler.bodies();
    return std::any_of(bodies.begin(), bodies.end(), [](const std::string& body) {
        return body.find(kSmuggled) != std::string::npos;
    });
}

// A whole exchange on a connection of its own.
int status_of(HttpServer& server, const std::string& request) {
    HttpClient client(server.port());
    client.send(request);
    const auto answer = client.read_answer();
    return answer ? answer->status : 0;
}

}  // namespace

TEST_CASE("time runs out", "[server]") {
    config::Server settings;
    settings.header_timeout = kShort;
    settings.body_timeout = kShort;
    settings.idle_timeout = kShort;
    HttpServer server(settings);

    SECTION("a new connection that says nothing is closed without a word") {
        HttpClient client(server.port());
        CHECK(client.is_closed_by_peer());
    }
    SECTION("a head that stops") {
        HttpClient client(server.port());
        client.send("POST / HTTP/1.1\r\nHost: localh");
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->status == 408);
        CHECK(client.is_closed_by_peer());
    }
    SECTION("a head that trickles") {
        HttpClient client(server.port());
        REQUIRE(wait_until([&] { return server.state().connections.taken() == 1; }));
        CHECK(wait_until([&] {
            client.send("x");
            return server.state().connections.taken() == 0;
        }));
    }
    SECTION("a body that stops") {
        HttpClient client(server.port());
        client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->status == 408);
        CHECK(answer->body.find("http_error") != std::string::npos);
        CHECK(client.is_closed_by_peer());
    }
    SECTION("a second head that stops") {
        HttpClient client(server.port());
        client.send(plain_post("first") + "POST / HT");
        REQUIRE(client.read_answer());
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->status == 408);
    }
    SECTION("an idle connection") {
        HttpClient client(server.port());
        client.send(plain_post("first"));
        REQUIRE(client.read_answer());
        CHECK(client.is_closed_by_peer());
    }
    SECTION("an idle connection with the empty line that some clients send after a body") {
        const bool in_pieces = GENERATE(false, true);
        HttpClient client(server.port());
        client.send(plain_post("first") + (in_pieces ? "\r" : "\r\n"));
        REQUIRE(client.read_answer());
        client.send(in_pieces ? "\n" : "");
        CHECK(client.is_closed_by_peer());  // and nothing said
    }
    SECTION("a new connection that sends an empty line and no more") {
        HttpClient client(server.port());
        client.send("\r\n");
        CHECK(client.is_closed_by_peer());
    }
    SECTION("an empty line, then half a head") {
        HttpClient client(server.port());
        client.send(plain_post("first") + "\r\n");
        REQUIRE(client.read_answer());
        client.send("POST / HT");
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->status == 408);
    }
    SECTION("a handler may take longer than any of them") {
        HttpClient client(server.port());
        client.send(plain_post("wait"));
        REQUIRE(wait_until([&] { return server.handler().running() == 1; }));
        std::this_thread::sleep_for(3 * kShort);
        server.on_worker([&](server::Server&) { server.handler().release(); });
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->body == "wait");
    }
    CHECK(wait_until([&] { return server.state().connections.taken() == 0; }));
}

TEST_CASE("an idle connection gives its memory back and is served again", "[server]") {
    HttpServer server;
    HttpClient client(server.port());
    for (int round = 0; round < 3; ++round) {
        client.send(plain_post("hello"));
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->body == "hello");
        if (round != 0) {  // its second request: more may follow soon
            CHECK(server.budget().used() != 0);
        }
        CHECK(wait_until([&] { return server.budget().used() == 0; }));
    }
}

TEST_CASE("a large body arrives whole", "[server]") {
    HttpServer server;
    std::string body(4'500'000, 'x');
    for (std::size_t i = 0; i < body.size(); i += 997) {
        body[i] = static_cast<char>('a' + i % 26);
    }
    HttpClient client(server.port());
    client.send(plain_post(body));
    auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->body == body);

    std::string chunked =
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < body.size(); at += 4096) {
        const std::string piece = body.substr(at, 4096);
        char line[16];
        std::snprintf(line, sizeof(line), "%zx\r\n", piece.size());
        chunked += line + piece + "\r\n";
    }
    client.send(chunked + "0\r\n\r\n" + plain_post("after"));
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->body == body);
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->body == "after");
    CHECK(wait_until([&] { return server.budget().used() <= runtime::BufferPool::kBlock; }));
}

TEST_CASE("large answers, whole and passed on", "[server]") {
    HttpServer server;
    HttpClient client(server.port());
    for (const char* body : {"whole 20000000", "stream 20000000"}) {
        client.send(plain_post(body) + plain_post("after"));
        auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->status == 200);
        CHECK(answer->body.size() == 20'000'000);
        answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->body == "after");
    }
    client.send("POST / HTTP/1.0\r\nContent-Length: 14\r\n\r\nstream 1000000");
    const auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->header("Transfer-Encoding").empty());
    CHECK(answer->body.size() == 1'000'000);
}

TEST_CASE("a reader that stops is cut off", "[server]") {
    config::Server settings;
    settings.body_timeout = kShort;
    HttpServer server(settings);
    for (const char* body : {"whole 20000000", "stream 20000000"}) {
        HttpClient client(server.port());
        client.receive_buffer(4096);
        client.send(plain_post(body));
        REQUIRE(wait_until([&] { return server.handler().running() == 1; }));
        CHECK(wait_until([&] { return server.handler().running() == 0; }));
        CHECK(wait_until([&] { return server.state().connections.taken() == 0; }));
    }
    CHECK(server.handler().broken() == 2);
}

TEST_CASE("an answer that is given up is never completed", "[server]") {
    HttpServer server;
    for (const char* body : {"abort", "silence"}) {
        INFO(body);
        HttpClient client(server.port());
        client.send(plain_post(body) + plain_post(kSmuggled));
        CHECK_FALSE(client.read_answer());
    }
    CHECK_FALSE(has_smuggled(server.handler()));
}

TEST_CASE("a client that leaves in the middle of its answer", "[server]") {
    HttpServer server;
    {
        HttpClient client(server.port());
        client.send(plain_post("wait"));
        REQUIRE(wait_until([&] { return server.handler().running() == 1; }));
        client.reset();
    }
    {
        HttpClient client(server.port());
        client.send(plain_post("stream 20000000"));
        client.read_some();
    }
    server.on_worker([&](server::Server&) { server.handler().release(); });
    CHECK(wait_until([&] { return server.state().connections.taken() == 0; }));
    CHECK(server.state().in_flight.taken() == 0);
    CHECK(status_of(server, plain_post("fine")) == 200);
}

TEST_CASE("more connections than allowed", "[server]") {
    config::Server settings;
    settings.max_connections = 3;
    HttpServer server(settings);
    std::vector<std::unique_ptr<HttpClient>> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(std::make_unique<HttpClient>(server.port()));
        clients.back()->send(plain_post("one"));
        REQUIRE(clients.back()->read_answer());
    }
    for (int i = 0; i < 5; ++i) {
        HttpClient late(server.port());
        late.send(plain_post("late"));
        const auto answer = late.read_answer();
        REQUIRE(answer);
        CHECK(answer->status == 503);
        CHECK(answer->header("Retry-After") == "1");
        CHECK(answer->body.find("overloaded") != std::string::npos);
        CHECK(late.is_closed_by_peer());
    }
    clients.clear();
    CHECK(wait_until([&] { return status_of(server, plain_post("again")) == 200; }));
}

TEST_CASE("more requests in flight than allowed", "[server]") {
    config::Server settings;
    settings.max_in_flight = 1;
    HttpServer server(settings);
    HttpClient first(server.port());
    first.send(plain_post("wait"));
    REQUIRE(wait_until([&] { return server.handler().running() == 1; }));
    HttpClient second(server.port());
    second.send(plain_post("more"));
    auto answer = second.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 503);
    CHECK(answer->header("Retry-After") == "1");
    server.on_worker([&](server::Server&) { server.handler().release(); });
    REQUIRE(first.read_answer());
    CHECK(wait_until([&] { return server.state().in_flight.taken() == 0; }));
    second.send(plain_post("more"));
    answer = second.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 200);
}

TEST_CASE("more bytes than the buffers may hold", "[server]") {
    config::Server settings;
    settings.max_buffered = 256 * config::kKiB;
    HttpServer server(settings);
    HttpClient client(server.port());
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
    client.send(std::string(1'000'000, 'x'));
    const auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 503);
    CHECK(status_of(server, plain_post("small")) == 200);
}

TEST_CASE("names and origins", "[server]") {
    config::Server settings;
    settings.allowed_hosts = {"node.example"};
    settings.cors_origins = {"https://app.example"};
    HttpServer server(settings);
    const auto post = [](const std::string& lines) {
        return "POST / HTTP/1.1\r\n" + lines +
               "Content-Type: application/json\r\nContent-Length: 1\r\n\r\n1";
    };
    CHECK(status_of(server, post("Host: node.example\r\n")) == 200);
    CHECK(status_of(server, post("Host: localhost\r\n")) == 200);
    CHECK(status_of(server, post("Host: other.example\r\n")) == 403);
    CHECK(status_of(server, "POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\n1") == 403);
    HttpClient client(server.port());
    client.send(post("Host: localhost\r\nOrigin: https://app.example\r\n"));
    auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->header("Access-Control-Allow-Origin") == "https://app.example");
    client.send(post("Host: localhost\r\nOrigin: https://evil.example\r\n"));
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 403);
    CHECK(answer->body.find("forbidden_origin") != std::string::npos);
    CHECK(answer->header("Access-Control-Allow-Origin").empty());
    client.send(post("Host: localhost\r\nOrigin: null\r\n"));
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->header("Access-Control-Allow-Origin").empty());
}

TEST_CASE("an orderly stop", "[server]") {
    HttpServer server;
    HttpClient idle(server.port());
    idle.send(plain_post("hello"));
    REQUIRE(idle.read_answer());
    HttpClient silent(server.port());
    HttpClient busy(server.port());
    busy.send(plain_post("wait"));
    REQUIRE(wait_until([&] { return server.handler().bodies().size() == 2; }));

    server.state().begin_drain();
    HttpClient draining(server.port());
    draining.send(plain_post("still"));
    auto answer = draining.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->header("Connection") == "close");
    CHECK(draining.is_closed_by_peer());

    server.on_worker([](server::Server& one) {
        one.stop_accepting();
        one.close_idle();
    });
    CHECK(idle.is_closed_by_peer());
    CHECK(silent.is_closed_by_peer());
    CHECK_FALSE(server.drained(kShort));
    server.on_worker([&](server::Server&) { server.handler().release(); });
    answer = busy.read_answer();
    REQUIRE(answer);
    CHECK(answer->header("Connection") == "close");
    CHECK(busy.is_closed_by_peer());
    CHECK(server.drained(std::chrono::seconds(10)));
}

TEST_CASE("a stop that cuts", "[server]") {
    HttpServer server;
    HttpClient busy(server.port());
    busy.send(plain_post("wait"));
    REQUIRE(wait_until([&] { return server.handler().running() == 1; }));
    server.on_worker([](server::Server& one) {
        one.stop_accepting();
        one.cut();
    });
    CHECK(busy.is_closed_by_peer());
    server.on_worker([&](server::Server&) { server.handler().release(); });
    CHECK(server.drained(std::chrono::seconds(10)));
}

TEST_CASE("descriptors used up: no spin, and recovery", "[server]") {
    HttpServer server;
    const int next = ::dup(0);
    REQUIRE(next >= 0);
    ::close(next);
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    std::vector<std::unique_ptr<HttpClient>> clients;
    const rlimit few{.rlim_cur = static_cast<rlim_t>(next) + 5, .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    try {
        for (int i = 0; i < 4; ++i) {  // with the server's ends these are eight
            clients.push_back(std::make_unique<HttpClient>(server.port()));
        }
    } catch (const std::runtime_error&) {
    }
    const std::size_t connected = clients.size();
    for (const auto& client : clients) {
        client->send(plain_post("me too"));
    }
    const std::clock_t from = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const double busy = static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
    const std::size_t served = server.handler().bodies().size();
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(connected >= 3);
    CHECK(served < connected);
    CHECK(busy < 0.15);
    for (const auto& client : clients) {
        const auto answer = client->read_answer();
        REQUIRE(answer);
        CHECK(answer->body == "me too");
    }
}

TEST_CASE("many slow connections do not hold up the quick ones", "[server]") {
    config::Server settings;
    settings.header_timeout = std::chrono::milliseconds(1500);
    HttpServer server(settings);
    std::vector<std::unique_ptr<HttpClient>> slow;
    for (int i = 0; i < 200; ++i) {
        slow.push_back(std::make_unique<HttpClient>(server.port()));
        slow.back()->send("P");
    }
    HttpClient quick(server.port());
    for (int round = 0; round < 5; ++round) {
        for (const auto& client : slow) {
            client->send("O");
        }
        quick.send(plain_post("quick"));
        const auto answer = quick.read_answer();
        REQUIRE(answer);
        CHECK(answer->body == "quick");
    }
    CHECK(server.budget().used() <= 201 * runtime::BufferPool::kBlock);
    CHECK(wait_until([&] { return server.state().connections.taken() <= 1; }));
}
