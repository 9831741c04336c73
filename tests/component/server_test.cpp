// The HTTP server on a real socket, with a handler that echoes.
#include "support/catch.hpp"
#include "support/framing_cases.hpp"
#include "support/http_client.hpp"
#include "support/http_server.hpp"
#include "support/wait.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <unistd.h>
#include <vector>

using namespace weir;
using namespace weir::test;
using Expect = HttpClient::Expect;

namespace {

bool has_smuggled(const EchoHandler& handler) {
    const std::vector<std::string> bodies = handler.bodies();
    return std::any_of(bodies.begin(), bodies.end(), [](const std::string& body) {
        return body.find(kSmuggled) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("framing table over sockets", "[server]") {
    HttpServer server;
    for (const FramingCase& one : framing_cases()) {
        INFO(one.name);
        HttpClient client(server.port());
        client.send(one.bytes);
        const Expect expect = one.bytes.starts_with("HEAD ") ? Expect::head_only : Expect::body;
        const auto answer = client.read_answer(expect);
        REQUIRE(answer);
        CHECK(answer->status == one.status);
        if (one.status == 200) {
            CHECK(answer->body == one.body);
        } else if (one.status != 204) {
            CHECK(answer->header("Content-Type") == "application/json");
        }
        if (one.status != 200 && one.status != 204 && expect == Expect::body) {
            CHECK(answer->body.starts_with(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600)"));
        }
        CHECK(answer->header("Date").ends_with(" GMT"));
        CHECK(answer->header("Weir-Request-Id").size() == 16);
        if (one.after == FramingCase::After::closed) {
            CHECK(answer->header("Connection") == "close");
            CHECK(client.is_closed_by_peer());
        } else {
            CHECK(answer->header("Connection").empty());
            client.send(plain_post("next"));
            const auto next = client.read_answer();
            REQUIRE(next);
            CHECK(next->status == 200);
            CHECK(next->body == "next");
        }
    }
    CHECK_FALSE(has_smuggled(server.handler()));
}

TEST_CASE("every split of a request is one request", "[server]") {
    HttpServer server;
    const std::string plain = plain_post("a body");
    const std::string chunked =
        "POST /ethereum HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2;x=y\r\na \r\n4\r\nbody\r\n0\r\nX-T: 1\r\n\r\n";
    std::size_t sent = 0;
    for (const std::string& request : {plain, chunked}) {
        HttpClient client(server.port());
        for (std::size_t at = 1; at < request.size(); ++at, ++sent) {
            INFO("split at " << at);
            client.send(request.substr(0, at));
            client.send(request.substr(at));
            const auto answer = client.read_answer();
            REQUIRE(answer);
            REQUIRE(answer->body == "a body");
        }
    }
    CHECK(server.handler().bodies().size() == sent);
}

TEST_CASE("a request in single bytes", "[server]") {
    HttpServer server;
    HttpClient client(server.port());
    for (const char c : plain_post("slow")) {
        client.send(std::string(1, c));
    }
    const auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->body == "slow");
}

TEST_CASE("fifty pipelined requests are answered in order", "[server]") {
    HttpServer server;
    HttpClient client(server.port());
    std::string all;
    for (int i = 0; i < 50; ++i) {
        all += plain_post("request " + std::to_string(i));
    }
    client.send(all);
    for (int i = 0; i < 50; ++i) {
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->body == "request " + std::to_string(i));
    }
    client.send(all +
                "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                "Content-Length: 4\r\n\r\nlast" +
                plain_post(kSmuggled));
    for (int i = 0; i < 51; ++i) {
        REQUIRE(client.read_answer());
    }
    CHECK(client.is_closed_by_peer());
    CHECK_FALSE(has_smuggled(server.handler()));
}

TEST_CASE("headers of an answer", "[server]") {
    HttpServer server;
    HttpClient client(server.port());
    client.send(
        "POST / HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: mine-1\r\n"
        "Origin: http://localhost:3000\r\nContent-Type: application/json\r\n"
        "Content-Length: 7\r\n\r\nlimited");
    auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 429);
    CHECK(answer->header("Weir-Request-Id") == "mine-1");
    CHECK(answer->header("Weir-Attempts") == "1");
    CHECK(answer->header("Retry-After") == "2");
    CHECK(answer->header("Access-Control-Allow-Origin") == "http://localhost:3000");
    CHECK(answer->header("Vary") == "Origin");
    CHECK(answer->header("Access-Control-Expose-Headers") ==
          "Retry-After, Weir-Request-Id, Weir-Attempts, Weir-Block");

    client.send(
        "OPTIONS /ethereum HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\n"
        "Access-Control-Request-Method: POST\r\n"
        "Access-Control-Request-Private-Network: true\r\n\r\n");
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 204);
    CHECK(answer->header("Access-Control-Allow-Methods") == "POST");
    CHECK(answer->header("Access-Control-Allow-Headers") ==
          "content-type, authorization, weir-block");
    CHECK(answer->header("Access-Control-Max-Age") == "7200");
    CHECK(answer->header("Access-Control-Allow-Private-Network") == "true");
    CHECK(answer->header("Access-Control-Allow-Credentials").empty());
    CHECK(answer->header("Content-Length").empty());

    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->header("Allow") == "POST, OPTIONS");

    client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n" + plain_post("204") +
                plain_post("after"));
    answer = client.read_answer(Expect::head_only);
    REQUIRE(answer);
    CHECK(answer->status == 405);
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 204);
    CHECK(answer->header("Content-Type").empty());
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->body == "after");
}

TEST_CASE("Expect: 100-continue", "[server]") {
    HttpServer server;
    const std::string head =
        "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ";
    HttpClient client(server.port());
    client.send(head + "4\r\n\r\n");
    auto answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 100);
    client.send("body");
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->body == "body");

    client.send(head + "99999999\r\n\r\n");
    answer = client.read_answer();
    REQUIRE(answer);
    CHECK(answer->status == 413);
    CHECK(answer->body.find("body_too_large") != std::string::npos);
    CHECK(client.is_closed_by_peer());
}

TEST_CASE("a client that closes its side still gets its answers", "[server]") {
    HttpServer server;
    HttpClient client(server.port());
    client.send(plain_post("wait") + plain_post("second"));
    client.half_close();
    REQUIRE(wait_until([&] { return server.handler().running() == 1; }));
    server.on_worker([&](server::Server&) { server.handler().release(); });
    for (const char* body : {"wait", "second"}) {
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->body == body);
    }
    CHECK(client.is_closed_by_peer());
}

TEST_CASE("requests that end too early", "[server]") {
    HttpServer server;
    for (const std::string& begun :
         {plain_post("too short").substr(0, plain_post("too short").size() - 2),
          std::string("POST / HTTP/1.1\r\nHost: loc"),
          std::string(
              "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n"
              "ab")}) {
        INFO(begun);
        HttpClient client(server.port());
        client.send(begun);
        client.half_close();
        const auto answer = client.read_answer();
        REQUIRE(answer);
        CHECK(answer->status == 400);
        CHECK(client.is_closed_by_peer());
        HttpClient rude(server.port());
        rude.send(begun);
        rude.reset();
    }
    HttpClient silent(server.port());
    silent.half_close();
    CHECK(silent.is_closed_by_peer());
    CHECK(wait_until([&] { return server.state().connections.taken() <= 1; }));
    CHECK(server.handler().bodies().empty());
}
