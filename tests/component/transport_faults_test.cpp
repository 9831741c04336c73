// Everything a peer can do to an attempt ends as one of four causes, within time and memory.
#include "support/gzip.hpp"
#include "transport_fixture.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace weir;
using namespace weir::test;
using routing::Cause;
using std::chrono::milliseconds;

namespace {

using Script = std::function<void(PeerConnection&)>;

struct Fault {
    const char* name;
    Script script;
    Cause cause;
};

// After the request, `bytes` and then nothing until the transport gives up.
Script answer(std::string bytes) {
    return [bytes = std::move(bytes)](PeerConnection& peer) {
        peer.read_request();
        if (peer.send(bytes)) {
            peer.wait_closed();
        }
    };
}

// After the request, `bytes` and the end.
Script answer_and_end(std::string bytes) {
    return [bytes = std::move(bytes)](PeerConnection& peer) {
        peer.read_request();
        peer.send(bytes);
        peer.finish();
    };
}

Script answer_and_reset(std::string bytes) {
    return [bytes = std::move(bytes)](PeerConnection& peer) {
        peer.read_request();
        peer.send(bytes);
        peer.wait_delivered();
        peer.reset();
    };
}

// After the request, `start` and then `drop` over and over.
Script endless(std::string start, std::string drop) {
    return [start = std::move(start), drop = std::move(drop)](PeerConnection& peer) {
        peer.read_request();
        bool taken = peer.send(start);
        while (taken) {
            taken = peer.send(drop);
        }
    };
}

std::string chunked(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body;
}

std::vector<Fault> faults() {
    const std::string packed = gzip(std::string(100, 'x'));
    const std::string gzip_head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                                  std::to_string(packed.size()) + "\r\n\r\n";
    std::string broken = packed;
    broken[12] = static_cast<char>(broken[12] ^ 0x55);
    broken[broken.size() - 5] = static_cast<char>(broken[broken.size() - 5] ^ 0x55);
    const std::string megabyte(1 << 20, 'x');
    return {
        {"end at once", [](PeerConnection& peer) { peer.finish(); }, Cause::connection_lost},
        {"reset at once", [](PeerConnection& peer) { peer.reset(); }, Cause::connection_lost},
        {"reset within the request",
         [](PeerConnection& peer) {
             peer.read_some(5);
             peer.reset();
         },
         Cause::connection_lost},
        {"end after the request", answer_and_end(""), Cause::connection_lost},
        {"reset after the request", answer_and_reset(""), Cause::connection_lost},
        {"end within the head", answer_and_end("HTTP/1.1 200 OK\r\nCont"), Cause::connection_lost},
        {"reset within the head", answer_and_reset("HTTP/1.1 200 OK\r\nCont"),
         Cause::connection_lost},
        {"end within the body", answer_and_end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234"),
         Cause::connection_lost},
        {"reset within the body",
         answer_and_reset("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234"),
         Cause::connection_lost},
        {"end within a chunk", answer_and_end(chunked("5\r\n1234")), Cause::connection_lost},
        {"end before the last chunk", answer_and_end(chunked("4\r\n1234\r\n")),
         Cause::connection_lost},
        {"end within the trailers", answer_and_end(chunked("4\r\n1234\r\n0\r\nA: b\r\n")),
         Cause::connection_lost},
        {"reset of a body without length", answer_and_reset("HTTP/1.1 200 OK\r\n\r\n1234"),
         Cause::connection_lost},
        {"interim replies, then the end", answer_and_end("HTTP/1.1 100 Continue\r\n\r\n"),
         Cause::connection_lost},
        {"silence", answer(""), Cause::timeout},
        {"silence within the head", answer("HTTP/1.1 200 OK\r\n"), Cause::timeout},
        {"silence within the body", answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234"),
         Cause::timeout},
        {"silence after a chunk", answer(chunked("4\r\n1234\r\n")), Cause::timeout},
        {"silence instead of an end", answer("HTTP/1.1 200 OK\r\n\r\n1234"), Cause::timeout},
        {"a drip of header",
         [](PeerConnection& peer) {
             peer.read_request();
             bool taken = peer.send("HTTP/1.1 200 OK\r\nA: ");
             while (taken) {
                 taken = peer.send("x");
                 std::this_thread::sleep_for(milliseconds(5));
             }
         },
         Cause::timeout},
        {"a drip of body",
         [](PeerConnection& peer) {
             peer.read_request();
             bool taken = peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
             while (taken) {
                 taken = peer.send("x");
                 std::this_thread::sleep_for(milliseconds(5));
             }
         },
         Cause::timeout},
        {"not HTTP", answer("220 mail.example ESMTP\r\n"), Cause::bad_reply},
        {"HTTP/2", answer(std::string("\0\0\x12\4\0\0\0\0\0", 9)), Cause::bad_reply},
        {"two lengths",
         answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
         Cause::bad_reply},
        {"length and chunks",
         answer(
             "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
         Cause::bad_reply},
        {"101", answer("HTTP/1.1 101 Switching Protocols\r\n\r\n"), Cause::bad_reply},
        {"broken chunk size", answer(chunked("x\r\n")), Cause::bad_reply},
        {"broken chunk end", answer(chunked("1\r\nab\r\n")), Cause::bad_reply},
        {"brotli", answer("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\na"),
         Cause::bad_reply},
        {"broken gzip", answer(gzip_head + broken), Cause::bad_reply},
        {"gzip of nothing like it", answer(gzip_head + std::string(packed.size(), 'x')),
         Cause::bad_reply},
        {"a length of a gigabyte",
         answer("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n" + megabyte),
         Cause::bad_reply},
        {"an endless header",
         endless("HTTP/1.1 200 OK\r\n", "A: " + std::string(1000, 'x') + "\r\n"), Cause::bad_reply},
        {"an endless header line", endless("HTTP/1.1 200 OK\r\nA: ", megabyte), Cause::bad_reply},
        {"endless interim replies", endless("", "HTTP/1.1 100 Continue\r\n\r\n"), Cause::bad_reply},
        {"an endless body", endless("HTTP/1.1 200 OK\r\n\r\n", megabyte), Cause::bad_reply},
        {"endless chunks", endless(chunked(""), "100000\r\n" + megabyte + "\r\n"),
         Cause::bad_reply},
        {"an endless chunk extension", endless(chunked("1;"), megabyte), Cause::bad_reply},
        {"endless trailers", endless(chunked("0\r\n"), "A: b\r\n"), Cause::bad_reply},
        {"a compression bomb",
         endless("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
                 gzip(std::string(16 << 20, 'x'))),
         Cause::bad_reply},
    };
}

}  // namespace

TEST_CASE("a fault is one cause, within time and memory, and its connection is gone") {
    for (const Fault& fault : faults()) {
        for (const std::size_t reply_buffer : {std::size_t{1} << 20, std::size_t{1000}}) {
            INFO(fault.name << ", reply_buffer " << reply_buffer);
            ScriptedPeer peer([&](PeerConnection& connection, int) { fault.script(connection); });
            TransportFixture fixture(peer.port());
            const bool slow = fault.cause == Cause::timeout;
            const auto begin = std::chrono::steady_clock::now();
            const Outcome outcome =
                fixture.send({.time = slow ? milliseconds(150) : milliseconds(10000),
                              .reply_buffer = reply_buffer,
                              .max_reply = 4 << 20});
            const auto took = std::chrono::steady_clock::now() - begin;
            REQUIRE(outcome.failure.has_value());
            CHECK(outcome.failure->cause == fault.cause);
            CHECK_FALSE(outcome.failure->detail.empty());
            CHECK(outcome.failure->origin == routing::TransportFailure::Origin::upstream);
            CHECK(took < std::chrono::seconds(5));
            CHECK(peer.connections() == 1);
            CHECK(fixture.idle() == 0);
            CHECK(fixture.budget.used() == 0);
        }
    }
}

TEST_CASE("bodies that only a closing connection ends, and compressed ones, come whole") {
    const std::string text(100000, 'x');
    const std::string packed = gzip(text);
    struct Case {
        Script script;
        std::string body;
    };
    const std::vector<Case> cases = {
        {answer_and_end("HTTP/1.1 200 OK\r\n\r\n" + text), text},
        {answer_and_end("HTTP/1.0 200 OK\r\n\r\n"), ""},
        {answer_and_end("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed), text},
        {answer("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                std::to_string(packed.size()) + "\r\n\r\n" + packed),
         text},
    };
    for (const Case& each : cases) {
        for (const std::size_t reply_buffer : {std::size_t{1} << 20, std::size_t{1000}}) {
            ScriptedPeer peer([&](PeerConnection& connection, int) { each.script(connection); });
            TransportFixture fixture(peer.port());
            const Outcome outcome = fixture.send({.reply_buffer = reply_buffer});
            REQUIRE(outcome.good());
            CHECK(outcome.body == each.body);
        }
    }
}

TEST_CASE("a connection that cannot be opened has sent nothing") {
    TransportFixture refused(refused_port());
    Outcome outcome = refused.send();
    CHECK(outcome.cause() == Cause::connect_failed);
    CHECK(outcome.sent_nothing());

    const BlackHole hole;
    TransportFixture black(
        hole.port(), {}, [](config::Chain& chain) { chain.timeouts.connect = milliseconds(100); });
    const auto begin = std::chrono::steady_clock::now();
    outcome = black.send();
    CHECK(outcome.cause() == Cause::connect_failed);
    CHECK(outcome.sent_nothing());
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));

    outcome = black.send({.time = milliseconds(50)});
    CHECK(outcome.cause() == Cause::timeout);
    CHECK(outcome.sent_nothing());
}

TEST_CASE("an attempt that is cancelled ends at once and blames nobody") {
    std::atomic<int> stage = 0;
    ScriptedPeer peer([&](PeerConnection& connection, int number) {
        connection.read_request();
        if (number == 1) {
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12");
        }
        ++stage;
        connection.wait_closed();
    });
    TransportFixture fixture(peer.port());
    for (int round = 1; round <= 2; ++round) {
        upstream::Cancellation cancellation;
        const auto slot = fixture.start({.cancellation = &cancellation});
        REQUIRE(fixture.drive([&] { return stage == round; }));
        CHECK_FALSE(slot->has_value());
        cancellation.cancel();
        REQUIRE(fixture.drive([&] { return slot->has_value(); }));
        CHECK((*slot)->cause() == Cause::connection_lost);
        CHECK_FALSE((*slot)->sent_nothing());
        CHECK((*slot)->failure->origin == routing::TransportFailure::Origin::gateway);
    }
    upstream::Cancellation cancelled;
    cancelled.cancel();
    const Outcome outcome = fixture.send({.cancellation = &cancelled});
    CHECK(outcome.cause() == Cause::connection_lost);
    CHECK(outcome.sent_nothing());
    CHECK(peer.connections() == 2);

    const BlackHole hole;
    TransportFixture black(hole.port());
    upstream::Cancellation while_connecting;
    const auto slot = black.start({.cancellation = &while_connecting});
    black.drive([&] { return black.worker.io.poll_one() == 0; });
    while_connecting.cancel();
    REQUIRE(black.drive([&] { return slot->has_value(); }));
    CHECK((*slot)->sent_nothing());
}

TEST_CASE("a task group's cancellation ends an attempt as well") {
    std::atomic<bool> asked = false;
    ScriptedPeer peer([&](PeerConnection& connection, int) {
        connection.read_request();
        asked = true;
        connection.wait_closed();
    });
    TransportFixture fixture(peer.port());
    const auto slot = fixture.start({});
    REQUIRE(fixture.drive([&] { return asked.load(); }));
    fixture.tasks.cancel();
    REQUIRE(fixture.drive([&] { return slot->has_value(); }));
    CHECK((*slot)->cause() == Cause::connection_lost);
    CHECK((*slot)->failure->origin == routing::TransportFailure::Origin::gateway);
    REQUIRE(fixture.drive([&] { return fixture.tasks.running() == 0; }));
}

TEST_CASE("a reply for which there is no room is the gateway's own failure") {
    ScriptedPeer peer([](PeerConnection& connection, int) {
        connection.read_request();
        connection.send(good_reply(std::string(900 << 10, 'x')));
        connection.wait_closed();
    });
    TransportFixture fixture(peer.port(), {}, {}, 256 << 10);
    const Outcome outcome = fixture.send();
    REQUIRE(outcome.failure.has_value());
    CHECK(outcome.failure->origin == routing::TransportFailure::Origin::no_room);
    CHECK(fixture.budget.used() == 0);
    CHECK(fixture.idle() == 0);
}

TEST_CASE("without descriptors an attempt fails as the gateway's own, and the next one may work") {
    ScriptedPeer peer([](PeerConnection& connection, int) {
        connection.read_request();
        connection.send(good_reply("1"));
        connection.wait_closed();
    });
    TransportFixture fixture(peer.port());
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const int next = dup(STDIN_FILENO);
    close(next);
    const rlimit none = {static_cast<rlim_t>(next), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    const Outcome outcome = fixture.send();
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK(outcome.cause() == Cause::connect_failed);
    CHECK(outcome.sent_nothing());
    CHECK(outcome.failure->origin == routing::TransportFailure::Origin::no_room);
    CHECK(fixture.send().good());
}

TEST_CASE("descriptors that are for others are not taken for a connection") {
    ScriptedPeer peer([](PeerConnection& connection, int) {
        connection.read_request();
        connection.send(good_reply("1"));
        connection.wait_closed();
    });
    const int next = dup(STDIN_FILENO);
    close(next);
    upstream::TransportSettings settings;
    settings.descriptors_below = next;
    TransportFixture fixture(peer.port(), settings);
    const Outcome outcome = fixture.send();
    CHECK(outcome.cause() == Cause::connect_failed);
    CHECK(outcome.sent_nothing());
    CHECK(outcome.failure->origin == routing::TransportFailure::Origin::no_room);
    CHECK(peer.connections() == 0);
}

TEST_CASE("no message is sent once its time is over") {
    ScriptedPeer peer([](PeerConnection& connection, int) { connection.wait_closed(); });
    TransportFixture fixture(peer.port());
    const Outcome outcome = fixture.send({.time = milliseconds(0)});
    CHECK(outcome.cause() == Cause::timeout);
    CHECK(outcome.sent_nothing());
    CHECK(peer.connections() == 0);
}
