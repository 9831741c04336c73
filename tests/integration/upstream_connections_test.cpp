// Providers that cannot be reached, are not who they say, or close and speak out of turn.
#include "support/catch.hpp"
#include "support/certificates.hpp"
#include "support/daemon.hpp"
#include "support/faulty_node.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;
using Asked = FaultyNode::Asked;

namespace {

const std::string kCall = rpc("eth_gasPrice", "[]", "77");
const std::string kOwn = R"("0xa")";
const std::string kOthers = R"("0x59682f00")";  // the simulator's

void answer_well(const Asked& asked) {
    asked.connection.send(good_reply(result_reply(asked.id, kOwn)));
}

// Upstream `a` at this URL serves nothing: alone the gateway has no upstream, with another one
// that one answers.
void check_unfit(const std::string& url, const std::string& more, const std::string& other) {
    DaemonConfig config = DaemonConfig::with({url});
    config.upstreams[0].more = more;
    config.chain = {"timeouts: {request: 1s, connect: 300ms}"};
    {
        Daemon alone(config);
        CHECK_FALSE(alone.is_ready());
        const HttpResponse response = alone.post(kCall);
        CHECK(response.status == 503);
        CHECK(type_of(response.body) == "no_upstream");
        CHECK(id_of(response.body) == "77");
        CHECK(result_of(alone.post(rpc("eth_chainId")).body) == R"("0x1")");
    }
    config.upstreams.push_back({"b", other, "tier: 1"});
    const Daemon both(config);
    REQUIRE(both.wait_for_state("b", "fit"));
    for (int i = 0; i < 3; ++i) {
        const HttpResponse response = both.post(kCall);
        CHECK(response.status == 200);
        CHECK(result_of(response.body) == kOthers);
    }
}

}  // namespace

TEST_CASE("a provider that cannot be reached", "[daemon]") {
    Simulators simulators;
    const std::string other = simulators.add().url();
    SECTION("refused") {
        check_unfit("http://127.0.0.1:" + std::to_string(refused_port()) + "/", "", other);
    }
    SECTION("a black hole") {
        const BlackHole hole;
        check_unfit("http://127.0.0.1:" + std::to_string(hole.port()) + "/", "", other);
    }
    SECTION("a name that does not resolve") { check_unfit("http://nowhere.invalid/", "", other); }
    SECTION("reset before the request") {
        ScriptedPeer peer([](PeerConnection& connection, int) { connection.reset(); });
        check_unfit("http://127.0.0.1:" + std::to_string(peer.port()) + "/", "", other);
    }
    SECTION("closed before the request") {
        ScriptedPeer peer([](PeerConnection& connection, int) { connection.finish(); });
        check_unfit("http://127.0.0.1:" + std::to_string(peer.port()) + "/", "", other);
    }
    SECTION("reset within the request") {
        ScriptedPeer peer([](PeerConnection& connection, int) {
            connection.read_some(5);
            connection.reset();
        });
        check_unfit("http://127.0.0.1:" + std::to_string(peer.port()) + "/", "", other);
    }
}

TEST_CASE("a provider that is not who it says", "[daemon]") {
    Simulators simulators;
    const std::string other = simulators.add().url();
    const Certificate authority = make_authority("weir test authority");
    const Certificate stranger = make_authority("another authority");
    const TemporaryFile ca(authority.certificate_pem());
    const std::string trust = "tls: {ca_file: \"" + ca.path() + "\"}";
    const auto check = [&](const Certificate& certificate, const std::string& more) {
        FaultyNode node(answer_well, &certificate);
        check_unfit(node.url(), more, other);
        CHECK(node.calls() == 0);
    };
    SECTION("expired") { check(make_certificate(&authority, "IP:127.0.0.1", -60), trust); }
    SECTION("another name") { check(make_certificate(&authority, "IP:127.0.0.2"), trust); }
    SECTION("an unknown authority") { check(make_certificate(&stranger, "IP:127.0.0.1"), trust); }
    SECTION("self-signed") { check(make_certificate(nullptr, "IP:127.0.0.1"), trust); }
    SECTION("not known to the system") { check(make_certificate(&authority, "IP:127.0.0.1"), ""); }
    SECTION("no TLS at all") {
        FaultyNode node(answer_well);
        check_unfit("https://127.0.0.1:" + std::to_string(node.port()) + "/", trust, other);
    }
    SECTION("an end within the handshake") {
        ScriptedPeer peer([](PeerConnection& connection, int) {
            connection.read_some(100);
            connection.finish();
        });
        check_unfit("https://127.0.0.1:" + std::to_string(peer.port()) + "/", trust, other);
    }
    SECTION("silence within the handshake") {
        ScriptedPeer peer([](PeerConnection& connection, int) { connection.wait_closed(); });
        check_unfit("https://127.0.0.1:" + std::to_string(peer.port()) + "/", trust, other);
    }
    SECTION("cut without TLS's goodbye, where the end is all that ends the body") {
        const Certificate good = make_certificate(&authority, "IP:127.0.0.1");
        FaultyNode node(
            [](const Asked& asked) {
                asked.connection.send("HTTP/1.1 200 OK\r\n\r\n" + result_reply(asked.id, kOwn));
                asked.connection.cut();
            },
            &good);
        DaemonConfig config = DaemonConfig::with({node.url(), other});
        config.upstreams[0].more = trust;
        config.upstreams[1].more = "tier: 1";
        const Daemon daemon(config);
        REQUIRE(daemon.wait_for_state("a", "fit"));
        REQUIRE(daemon.wait_for_state("b", "fit"));
        const HttpResponse response = daemon.post(kCall);
        CHECK(result_of(response.body) == kOthers);
        CHECK(response.field("Weir-Attempts") == "2");
        CHECK(node.calls() == 1);
    }
}

TEST_CASE("an idle connection that is closed at the moment of its reuse", "[daemon]") {
    // The node closes each connection some microseconds after its answer: before, while and after
    // the next request arrives. Nobody's fault, and no application's problem.
    std::atomic<int> rounds = 0;
    FaultyNode node([&](const Asked& asked) {
        answer_well(asked);
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::microseconds(20 * (rounds++ % 50));
        while (std::chrono::steady_clock::now() < until) {
        }
        asked.connection.finish();
    });
    DaemonConfig config = DaemonConfig::with({node.url()});
    config.threads = 1;
    const Daemon daemon(config);
    REQUIRE(daemon.wait_for_state("a", "fit"));
    RawClient client(daemon.rpc_address());
    for (int round = 0; round < 50; ++round) {
        CAPTURE(round);
        const HttpResponse response = client.post("/", kCall);
        CHECK(response.status == 200);
        CHECK(result_of(response.body) == kOwn);
    }
    CHECK(daemon.wait_for_state("a", "fit"));
}

TEST_CASE("a write meets no connection that may be stale, and is sent once", "[daemon]") {
    std::mutex mutex;
    std::multiset<std::string> sent;
    FaultyNode node([&](const Asked& asked) {
        const std::string body = asked.request.substr(asked.request.find("\r\n\r\n") + 4);
        {
            const std::lock_guard lock(mutex);
            sent.emplace(jsonrpc::member(body, "params"));
        }
        answer_well(asked);
        asked.connection.finish();
    });
    DaemonConfig config = DaemonConfig::with({node.url()});
    config.threads = 1;
    const Daemon daemon(config);
    REQUIRE(daemon.wait_for_state("a", "fit"));
    RawClient client(daemon.rpc_address());
    for (int round = 0; round < 50; ++round) {
        CAPTURE(round);
        client.post("/", kCall);  // leaves a connection that is being closed
        const std::string params = "[\"round " + std::to_string(round) + "\"]";
        const HttpResponse response = client.post("/", rpc("x_write", params));
        CHECK(response.status == 200);
        CHECK(result_of(response.body) == kOwn);
        const std::lock_guard lock(mutex);
        CHECK(sent.count(params) == 1);
    }
}

TEST_CASE("bytes that nobody asked for are nobody's answer", "[daemon]") {
    std::atomic<int> spoken = 0;
    FaultyNode node([&](const Asked& asked) {
        answer_well(asked);
        // After the reply, as its own message: what a request not yet sent would get.
        asked.connection.wait_delivered();
        const std::string next = std::to_string(std::stoul(asked.id) + 1);
        asked.connection.send(good_reply(result_reply(next, R"("0xbad")")));
        asked.connection.wait_delivered();
        ++spoken;
    });
    DaemonConfig config = DaemonConfig::with({node.url()});
    config.threads = 1;
    const Daemon daemon(config);
    REQUIRE(daemon.wait_for_state("a", "fit"));
    RawClient client(daemon.rpc_address());
    for (int round = 0; round < 50; ++round) {
        CAPTURE(round);
        const HttpResponse response = client.post("/", kCall);
        CHECK(response.status == 200);
        CHECK(result_of(response.body) == kOwn);
        REQUIRE(wait_until([&] { return spoken == round + 1; }));
    }
    CHECK(node.reuses() == 0);
}
