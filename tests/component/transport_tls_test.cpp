// TLS to upstreams: who is believed, and what a peer can do to a handshake and to a session.
#include "transport_fixture.hpp"

#include <atomic>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;
using routing::Cause;
using std::chrono::milliseconds;

namespace {

const std::string kBody = R"({"jsonrpc":"2.0","id":1,"result":"0x1"})";

void serve_all(PeerConnection& peer, int /*number*/) {
    while (!peer.read_request().empty()) {
        peer.send(good_reply(kBody));
    }
}

struct Trust {
    Trust() : authority(make_authority("weir test authority")), file(authority.certificate_pem()) {}
    Certificate authority;
    TemporaryFile file;

    std::function<void(config::Chain&)> use(const std::string& host = "127.0.0.1") const {
        return [this, host](config::Chain& chain) {
            config::Upstream& peer = chain.upstreams[0];
            peer.url.tls = true;
            peer.url.host = host;
            peer.tls.ca_file = file.path();
        };
    }
};

upstream::TransportSettings resolving_to_loopback() {
    return {.lookup = [](const std::string&) -> core::Result<upstream::Addresses> {
        return upstream::Addresses{"127.0.0.1"};
    }};
}

}  // namespace

TEST_CASE("a certificate must be current, for the host, and from somebody trusted") {
    const Trust trust;
    const Certificate other = make_authority("another authority");
    struct Case {
        const char* name;
        Certificate certificate;
        std::string host;
        std::string server_name;
        bool insecure;
        const char* problem;  // empty: accepted
    };
    std::vector<Case> cases;
    const auto add = [&](const char* name, Certificate certificate, const char* problem,
                         const char* host = "127.0.0.1", const char* server_name = "",
                         bool insecure = false) {
        cases.push_back({name, std::move(certificate), host, server_name, insecure, problem});
    };
    const Certificate* ca = &trust.authority;
    add("good, by address", make_certificate(ca, "IP:127.0.0.1"), "");
    add("good, by name", make_certificate(ca, "DNS:node.example"), "", "node.example");
    add("good, by wildcard", make_certificate(ca, "DNS:*.test.example"), "", "node.test.example");
    add("good, by server_name", make_certificate(ca, "DNS:node.example"), "", "127.0.0.1",
        "node.example");
    add("expired", make_certificate(ca, "IP:127.0.0.1", -60), "expired");
    add("another name", make_certificate(ca, "DNS:other.example"), "hostname mismatch",
        "node.example");
    add("another address", make_certificate(ca, "IP:127.0.0.2"), "IP address mismatch");
    add("a name instead of an address", make_certificate(ca, "DNS:127.0.0.1"),
        "IP address mismatch");
    add("wildcard over two labels", make_certificate(ca, "DNS:*.test.example"), "hostname mismatch",
        "a.node.test.example");
    add("partial wildcard", make_certificate(ca, "DNS:no*.test.example"), "hostname mismatch",
        "node.test.example");
    add("self-signed", make_certificate(nullptr, "IP:127.0.0.1"), "self-signed");
    add("unknown authority", make_certificate(&other, "IP:127.0.0.1"), "issuer");
    add("server_name does not match", make_certificate(ca, "IP:127.0.0.1"), "hostname mismatch",
        "127.0.0.1", "node.example");
    add("expired, insecure", make_certificate(ca, "IP:127.0.0.1", -60), "", "127.0.0.1", "", true);
    add("self-signed, insecure", make_certificate(nullptr, "DNS:x"), "", "node.example", "", true);

    for (const Case& each : cases) {
        INFO(each.name);
        ScriptedPeer peer(serve_all, &each.certificate);
        TransportFixture fixture(peer.port(), resolving_to_loopback(), [&](config::Chain& chain) {
            trust.use(each.host)(chain);
            chain.upstreams[0].tls.server_name = each.server_name;
            chain.upstreams[0].tls.insecure = each.insecure;
        });
        const Outcome outcome = fixture.send();
        if (std::string(each.problem).empty()) {
            REQUIRE(outcome.good());
            CHECK(outcome.body == kBody);
            CHECK(fixture.idle() == 1);
        } else {
            CHECK(outcome.cause() == Cause::connect_failed);
            CHECK(outcome.sent_nothing());
            CHECK(outcome.failure->detail.find(each.problem) != std::string::npos);
        }
    }
}

TEST_CASE("the system's store does not know a test's authority") {
    const Trust trust;
    const Certificate certificate = make_certificate(&trust.authority, "IP:127.0.0.1");
    ScriptedPeer peer(serve_all, &certificate);
    TransportFixture fixture(peer.port(), {},
                             [](config::Chain& chain) { chain.upstreams[0].url.tls = true; });
    const Outcome outcome = fixture.send();
    CHECK(outcome.cause() == Cause::connect_failed);
    CHECK(outcome.sent_nothing());
}

TEST_CASE("names go out as SNI, addresses do not; sessions are resumed") {
    const Trust trust;
    const Certificate certificate =
        make_certificate(&trust.authority, "DNS:node.example,IP:127.0.0.1");
    std::mutex mutex;
    std::vector<std::string> names;
    std::vector<bool> resumed;
    const auto script = [&](PeerConnection& connection, int number) {
        {
            const std::lock_guard lock(mutex);
            names.push_back(connection.server_name());
            resumed.push_back(connection.resumed());
        }
        serve_all(connection, number);
    };
    {
        ScriptedPeer peer(script, &certificate);
        TransportFixture fixture(peer.port(), resolving_to_loopback(), trust.use("node.example"));
        for (int i = 0; i < 4; ++i) {
            REQUIRE(fixture.send({.connection = upstream::Connection::never_stale}).good());
        }
        CHECK(peer.connections() == 4);
        REQUIRE(fixture.send().good());
        CHECK(peer.connections() == 4);
    }
    CHECK(names == std::vector<std::string>(4, "node.example"));
    CHECK(resumed == std::vector<bool>{false, true, true, true});
    names.clear();
    {
        ScriptedPeer peer(script, &certificate);
        TransportFixture fixture(peer.port(), {}, trust.use());
        REQUIRE(fixture.send().good());
    }
    CHECK(names == std::vector<std::string>{""});
}

TEST_CASE("a connection over TLS is reused under the same rules") {
    const Trust trust;
    const Certificate certificate = make_certificate(&trust.authority, "IP:127.0.0.1");
    const std::string large(3 << 20, 'x');
    ScriptedPeer peer(
        [&](PeerConnection& connection, int number) {
            switch (number) {
                case 0: {  // a large reply, then a small one, then stray bytes in the same record
                    connection.read_request();
                    connection.send(good_reply(large));
                    connection.read_request();
                    connection.send(good_reply(kBody));
                    connection.read_request();
                    connection.send(good_reply(kBody) + "HTTP/1.1");
                    return connection.wait_closed();
                }
                case 1:  // ends properly while idle
                    connection.read_request();
                    connection.send(good_reply(kBody));
                    return connection.finish();
                case 2:  // ends at the moment of reuse
                    connection.read_request();
                    connection.send(good_reply(kBody));
                    connection.read_request();
                    return connection.finish();
                default:
                    return serve_all(connection, number);
            }
        },
        &certificate);
    TransportFixture fixture(peer.port(), {}, trust.use());
    Outcome outcome = fixture.send({.reply_buffer = 64 << 10});
    REQUIRE(outcome.good());
    CHECK(outcome.had_rest);
    CHECK(outcome.body == large);
    CHECK(fixture.idle() == 1);
    REQUIRE(fixture.send({.body = std::string(2 << 20, ' ')}).good());
    CHECK(fixture.idle() == 1);
    CHECK(fixture.send().body == kBody);
    CHECK(fixture.idle() == 0);
    CHECK(peer.connections() == 1);
    CHECK(fixture.send().body == kBody);
    CHECK(peer.connections() == 2);
    // At the moment of reuse the second connection's end may not have arrived yet.
    const auto ask_until_answered = [&] {
        Outcome answer = fixture.send();
        for (int i = 0; i < 3 && answer.is_nobodys_fault(); ++i) {
            answer = fixture.send();
        }
        return answer;
    };
    CHECK(ask_until_answered().body == kBody);
    CHECK(peer.connections() == 3);
    CHECK(ask_until_answered().body == kBody);
    CHECK(peer.connections() == 4);
}

TEST_CASE("a session that is cut off is not an end") {
    const Trust trust;
    const Certificate certificate = make_certificate(&trust.authority, "IP:127.0.0.1");
    ScriptedPeer peer(
        [&](PeerConnection& connection, int number) {
            connection.read_request();
            connection.send("HTTP/1.1 200 OK\r\n\r\nas much as there is");
            if (number == 0) {
                connection.finish();
            } else {
                connection.cut();
            }
        },
        &certificate);
    TransportFixture fixture(peer.port(), {}, trust.use());
    const Outcome whole = fixture.send();
    REQUIRE(whole.good());
    CHECK(whole.body == "as much as there is");
    const Outcome cut = fixture.send();
    CHECK(cut.cause() == Cause::connection_lost);
}

TEST_CASE("a handshake that stalls, breaks off or is none fails within the time to connect") {
    const Trust trust;
    const Certificate certificate = make_certificate(&trust.authority, "IP:127.0.0.1");
    const std::vector<std::function<void(PeerConnection&)>> scripts = {
        [](PeerConnection& peer) { peer.wait_closed(); },
        [](PeerConnection& peer) { peer.cut(); },
        [](PeerConnection& peer) { peer.reset(); },
    };
    for (const auto& script : scripts) {
        ScriptedPeer peer([&](PeerConnection& connection, int) { script(connection); },
                          &certificate, false);
        TransportFixture fixture(peer.port(), {}, [&](config::Chain& chain) {
            trust.use()(chain);
            chain.timeouts.connect = milliseconds(200);
        });
        const auto begin = std::chrono::steady_clock::now();
        const Outcome outcome = fixture.send();
        CHECK(outcome.cause() == Cause::connect_failed);
        CHECK(outcome.sent_nothing());
        CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));
    }
    // An upstream that speaks plain HTTP on the port.
    ScriptedPeer plain([](PeerConnection& connection, int) {
        connection.read_some();
        connection.send("HTTP/1.1 400 Bad Request\r\n\r\n");
        connection.finish();
    });
    TransportFixture fixture(plain.port(), {}, trust.use());
    const Outcome outcome = fixture.send();
    CHECK(outcome.cause() == Cause::connect_failed);
    CHECK(outcome.sent_nothing());
}

TEST_CASE("a silent or slow peer over TLS runs into the deadline") {
    const Trust trust;
    const Certificate certificate = make_certificate(&trust.authority, "IP:127.0.0.1");
    ScriptedPeer peer(
        [](PeerConnection& connection, int) {
            connection.read_request();
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12");
            connection.wait_closed();
        },
        &certificate);
    TransportFixture fixture(peer.port(), {}, trust.use());
    const Outcome outcome = fixture.send({.time = milliseconds(300)});
    CHECK(outcome.cause() == Cause::timeout);
    CHECK_FALSE(outcome.sent_nothing());
}

TEST_CASE("settings that cannot work are refused at the start, with their keys") {
    const TemporaryFile empty("no certificate at all");
    runtime::SystemClock clock;
    runtime::SystemRandom random;
    runtime::MemoryBudget budget(1 << 20);
    runtime::Worker worker(0, clock, random, budget);
    config::Chain chain;
    chain.upstreams.resize(3);
    for (config::Upstream& peer : chain.upstreams) {
        peer.url.host = "node.example";
        peer.url.tls = true;
    }
    chain.upstreams[0].tls.ca_file = "/nowhere/at/all.pem";
    chain.upstreams[1].tls.ca_file = empty.path();
    chain.upstreams[2].headers = {{"Content-Length", core::Secret("5")}};
    const auto made = upstream::HttpTransport::create(worker, {chain});
    REQUIRE_FALSE(made.has_value());
    const std::string& message = made.error().message;
    CHECK(message.find("chains[0].upstreams[0].tls.ca_file: ") != std::string::npos);
    CHECK(message.find("chains[0].upstreams[1].tls.ca_file: ") != std::string::npos);
    CHECK(message.find("chains[0].upstreams[2].headers: ") != std::string::npos);
}
