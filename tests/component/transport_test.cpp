// The transport against a peer that behaves, and the rules of connection reuse.
#include "transport_fixture.hpp"

#include <atomic>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;
using routing::Cause;
using upstream::Connection;

namespace {

const std::string kBody = R"({"jsonrpc":"2.0","id":1,"result":"0x1"})";

void serve_all(PeerConnection& peer, int /*number*/) {
    while (!peer.read_request().empty()) {
        peer.send(good_reply(kBody));
    }
}

// Answers every connection's first request with `reply`, then waits.
ScriptedPeer::Script answer_once(const std::string& reply) {
    return [reply](PeerConnection& peer, int) {
        if (!peer.read_request().empty() && peer.send(reply)) {
            peer.wait_closed();
        }
    };
}

}  // namespace

TEST_CASE("a call goes out as it is and its reply comes back") {
    std::string seen;
    std::uint16_t port = 0;
    {
        ScriptedPeer peer([&](PeerConnection& connection, int) {
            seen = connection.read_request();
            connection.send(
                "HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nDate: today\r\nContent-Type: "
                "text/plain\r\n"
                "Content-Length: 4\r\n\r\nbusy");
            connection.wait_closed();
        });
        port = peer.port();
        TransportFixture fixture(port);
        const Outcome outcome = fixture.send({.body = R"([{"id":1}])"});
        REQUIRE(outcome.good());
        CHECK(outcome.head.status == 429);
        CHECK(outcome.head.retry_after == "7");
        CHECK(outcome.head.date == "today");
        CHECK(outcome.body == "busy");
        CHECK_FALSE(outcome.had_rest);
    }
    CHECK(seen.starts_with("POST /v2/key HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                           "\r\nUser-Agent: weir/"));
    CHECK(seen.ends_with("Content-Length: 10\r\n\r\n[{\"id\":1}]"));
}

TEST_CASE("a connection is used again and again") {
    ScriptedPeer peer(serve_all);
    TransportFixture fixture(peer.port());
    for (int i = 0; i < 100; ++i) {
        const Outcome outcome = fixture.send();
        REQUIRE(outcome.good());
        REQUIRE(outcome.body == kBody);
    }
    CHECK(peer.connections() == 1);
    CHECK(fixture.idle() == 1);
    fixture.transport->drop_idle(0, 0);
    CHECK(fixture.idle() == 0);
    REQUIRE(fixture.send().good());
    CHECK(peer.connections() == 2);
    fixture.transport->close_idle();
    CHECK(fixture.idle() == 0);
    CHECK(fixture.budget.used() == 0);
}

TEST_CASE("parallel attempts have a connection each; only so many are kept") {
    ScriptedPeer peer(serve_all);
    TransportFixture fixture(peer.port(), {.most_idle = 3});
    std::vector<std::shared_ptr<std::optional<Outcome>>> slots;
    for (int i = 0; i < 5; ++i) {
        slots.push_back(fixture.start({}));
    }
    for (const auto& slot : slots) {
        REQUIRE(fixture.drive([&] { return slot->has_value(); }));
        CHECK((*slot)->good());
    }
    CHECK(peer.connections() == 5);
    CHECK(fixture.idle() == 3);
}

TEST_CASE("a message that must not meet a stale connection always gets a fresh one") {
    ScriptedPeer peer(serve_all);
    TransportFixture fixture(peer.port());
    for (int i = 1; i <= 10; ++i) {
        REQUIRE(fixture.send({.connection = Connection::never_stale}).good());
        REQUIRE(peer.connections() == i);
    }
    // Reads may use what the writes left.
    REQUIRE(fixture.send().good());
    CHECK(peer.connections() == 10);
}

TEST_CASE("whether a connection is used again follows from the reply") {
    struct Case {
        std::string reply;
        std::string body;
        bool again;
    };
    const std::vector<Case> cases = {
        {good_reply(kBody), kBody, true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc", true},
        {"HTTP/1.1 204 No Content\r\n\r\n", "", true},
        {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\nno", "no",
         true},
        {"HTTP/1.1 206 Partial\r\nContent-Length: 2\r\n\r\nno", "no", true},
        {"HTTP/1.1 100 Continue\r\n\r\n" + good_reply("a"), "a", true},
        {"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=20\r\nContent-Length: 1\r\n\r\na", "a", true},
        {"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 1\r\n\r\na", "a", false},
        {"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 1\r\n\r\na", "a", false},
        {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na", "a", false},
        {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "a", false},
        {good_reply("a") + "x", "a", false},
        {good_reply("a") + good_reply("b"), "a", false},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nx", "a", false},
        {"HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\nx", "", false},
        {"HTTP/1.1 204 No Content\r\n\r\nx", "", false},
    };
    for (const Case& each : cases) {
        INFO(each.reply);
        ScriptedPeer peer(answer_once(each.reply));
        TransportFixture fixture(peer.port());
        const Outcome outcome = fixture.send();
        REQUIRE(outcome.good());
        CHECK(outcome.body == each.body);
        CHECK(fixture.idle() == (each.again ? 1U : 0U));
        CHECK(peer.connections() == 1);
    }
}

TEST_CASE("an idle connection that ended or holds stray bytes is not used") {
    struct Case {
        const char* name;
        std::function<void(PeerConnection&)> then;
    };
    const std::vector<Case> cases = {
        {"FIN", [](PeerConnection& peer) { peer.finish(); }},
        {"reset", [](PeerConnection& peer) { peer.reset(); }},
        {"stray bytes",
         [](PeerConnection& peer) {
             peer.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
             peer.wait_delivered();
         }},
    };
    for (const Case& each : cases) {
        INFO(each.name);
        std::atomic<bool> done = false;
        std::atomic<bool> go = false;
        ScriptedPeer peer([&](PeerConnection& connection, int number) {
            if (number > 0) {
                return serve_all(connection, number);
            }
            connection.read_request();
            connection.send(good_reply(kBody));
            go.wait(false);
            each.then(connection);
            done = true;
            connection.wait_closed();
        });
        TransportFixture fixture(peer.port());
        REQUIRE(fixture.send().good());
        CHECK(fixture.idle() == 1);
        go = true;
        go.notify_all();
        REQUIRE(fixture.drive([&] { return done.load(); }));
        const Outcome outcome = fixture.send();
        REQUIRE(outcome.good());
        CHECK(outcome.body == kBody);
        CHECK(peer.connections() == 2);
    }
}

TEST_CASE("an idle connection that is closed at the moment of reuse counts against nobody") {
    for (int round = 0; round < 50; ++round) {
        ScriptedPeer peer([&](PeerConnection& connection, int number) {
            if (number > 0) {
                return serve_all(connection, number);
            }
            connection.read_request();
            connection.send(good_reply(kBody));
            switch (round % 3) {
                case 0:  // the second request is seen, but not answered
                    connection.read_request();
                    return connection.finish();
                case 1:
                    connection.read_some(1);  // the rest unread: a reset
                    return connection.reset();
                default:  // somewhere around the second request
                    return connection.finish();
            }
        });
        TransportFixture fixture(peer.port());
        REQUIRE(fixture.send().good());
        const Outcome reused = fixture.send();
        if (!reused.good()) {  // its end had not arrived when it was taken
            REQUIRE(reused.cause() == Cause::connection_lost);
            REQUIRE(reused.is_nobodys_fault());
        }
        for (int i = 0; i < 2; ++i) {
            const Outcome outcome = fixture.send();
            REQUIRE(outcome.good());
            REQUIRE(outcome.body == kBody);
        }
        REQUIRE(peer.connections() == 2);
    }
}

TEST_CASE("a message is sent once; a connection that ends without a reply is the attempt's end") {
    std::atomic<int> requests = 0;
    SECTION("a fresh connection: the peer's fault") {
        ScriptedPeer peer([&](PeerConnection& connection, int) {
            connection.read_request();
            ++requests;
            connection.finish();
        });
        TransportFixture fixture(peer.port());
        const Outcome outcome = fixture.send();
        CHECK(outcome.cause() == Cause::connection_lost);
        CHECK_FALSE(outcome.is_nobodys_fault());
        CHECK(requests == 1);
    }
    SECTION("a reused one: nobody's") {
        ScriptedPeer peer([&](PeerConnection& connection, int) {
            connection.read_request();
            ++requests;
            connection.send(good_reply(kBody));
            connection.read_request();
            ++requests;
            connection.finish();
        });
        TransportFixture fixture(peer.port());
        CHECK(fixture.send().good());
        const Outcome outcome = fixture.send();
        CHECK(outcome.cause() == Cause::connection_lost);
        CHECK(outcome.is_nobodys_fault());
        CHECK(requests == 2);
    }
    SECTION("a reused one after a byte of reply: the peer's") {
        ScriptedPeer peer([&](PeerConnection& connection, int) {
            connection.read_request();
            ++requests;
            connection.send(good_reply(kBody));
            connection.read_request();
            ++requests;
            connection.send("H");
            connection.finish();
        });
        TransportFixture fixture(peer.port());
        CHECK(fixture.send().good());
        const Outcome outcome = fixture.send();
        CHECK(outcome.cause() == Cause::connection_lost);
        CHECK_FALSE(outcome.is_nobodys_fault());
        CHECK(requests == 2);
    }
}

TEST_CASE("idle connections are closed when their time is up") {
    ScriptedPeer peer(serve_all);
    TransportFixture fixture(peer.port(), {.idle = std::chrono::milliseconds(50)});
    REQUIRE(fixture.send().good());
    CHECK(fixture.idle() == 1);
    REQUIRE(fixture.drive([&] { return fixture.idle() == 0; }));
    REQUIRE(fixture.send().good());
    CHECK(peer.connections() == 2);
}

TEST_CASE("a long body comes in parts, and the connection is kept after its end only") {
    const std::string body(3 << 20, 'x');
    const std::vector<std::string> replies = {
        good_reply(body),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n300000\r\n" + body + "\r\n0\r\n\r\n",
    };
    for (const std::string& reply : replies) {
        ScriptedPeer peer(answer_once(reply));
        TransportFixture fixture(peer.port());
        Outcome outcome = fixture.send({.reply_buffer = 64 << 10});
        REQUIRE(outcome.good());
        CHECK(outcome.had_rest);
        CHECK(outcome.body == body);
        CHECK(fixture.most_buffered <= 512 << 10);
        CHECK(fixture.idle() == 1);
        CHECK(fixture.budget.used() == 0);

        fixture.transport->close_idle();
        outcome = fixture.send({.reply_buffer = 64 << 10, .read_rest = false});
        REQUIRE(outcome.good());
        CHECK(outcome.had_rest);
        CHECK(fixture.idle() == 0);
        CHECK(fixture.budget.used() == 0);

        outcome = fixture.send({.reply_buffer = 4 << 20});
        REQUIRE(outcome.good());
        CHECK_FALSE(outcome.had_rest);
        CHECK(outcome.body == body);
        CHECK(fixture.idle() == 1);
    }
}

TEST_CASE("a large request goes out whole") {
    std::string seen;
    const std::string body = "[" + std::string(5 << 20, ' ') + "]";
    {
        ScriptedPeer peer([&](PeerConnection& connection, int) {
            seen = connection.read_request();
            connection.send(good_reply(kBody));
            connection.wait_closed();
        });
        TransportFixture fixture(peer.port());
        REQUIRE(fixture.send({.body = body}).good());
        CHECK(fixture.idle() == 1);
    }
    CHECK(seen.ends_with("\r\n\r\n" + body));
}

TEST_CASE("an answer before the request was read is taken, and the connection closed") {
    std::atomic<bool> checked = false;
    ScriptedPeer peer([&](PeerConnection& connection, int) {
        connection.read_some();
        connection.send(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 413 Too Large\r\n"
            "Content-Length: 3\r\n\r\nbig");
        checked.wait(false);  // and reads no further
    });
    TransportFixture fixture(peer.port());
    const Outcome outcome = fixture.send({.body = std::string(32 << 20, ' ')});
    checked = true;
    checked.notify_all();
    REQUIRE(outcome.good());
    CHECK(outcome.head.status == 413);
    CHECK(outcome.body == "big");
    CHECK(fixture.idle() == 0);
}
