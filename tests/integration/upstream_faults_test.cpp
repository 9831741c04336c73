// What providers do wrong, seen by a client of the real program: another upstream's answer or the
// one right error, and never half an answer that looks whole.
#include "support/upstream_faults.hpp"

#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;
using Outcome = UpstreamFault::Outcome;
using Reuse = UpstreamFault::Reuse;
using std::chrono::milliseconds;

namespace {

const std::string kCall = rpc("eth_gasPrice", "[]", "77");
const std::string kOthersResult = R"("0x59682f00")";  // the simulator's

DaemonConfig config_for(const std::vector<std::string>& urls) {
    DaemonConfig config = DaemonConfig::with(urls);
    config.threads = 1;
    if (urls.size() > 1) {
        config.upstreams[1].more = "tier: 1";  // asked only where the first one fails
    }
    config.chain = {"reply_buffer: 64KiB", "max_reply: 1MiB",
                    "timeouts: {request: 400ms, slow_request: 400ms, attempt: 100ms}",
                    "circuit: {failures: 1000}"};
    return config;
}

// A server that nobody may connect to.
struct Trap {
    std::atomic<int> seen = 0;
    ScriptedPeer peer{[this](PeerConnection&, int) { ++seen; }};
};

void check_whole(const HttpResponse& response, int status) {
    CHECK(response.status == status);
    CHECK(response.end == HttpResponse::End::complete);
    CHECK(jsonrpc::is_valid(response.body));
    CHECK(id_of(response.body) == "77");
}

void check_with_another(const UpstreamFault& fault, const std::string& other) {
    FaultyNode node(fault.script);
    const Daemon daemon(config_for({node.url(), other}));
    REQUIRE(daemon.wait_for_state("a", "fit"));
    REQUIRE(daemon.wait_for_state("b", "fit"));
    const HttpResponse response = daemon.post(kCall);
    CAPTURE(response.body.substr(0, 500));
    if (fault.outcome == Outcome::cut && response.end == HttpResponse::End::cut) {
        CHECK(response.status == 200);
        CHECK_FALSE(jsonrpc::is_valid(response.body));
    } else {
        check_whole(response, 200);
        CHECK(result_of(response.body) ==
              (fault.outcome == Outcome::usable ? kOwnResult : kOthersResult));
        CHECK(response.field("Weir-Attempts") == (fault.outcome == Outcome::usable ? "1" : "2"));
    }
    CHECK(node.calls() == 1);
}

void check_alone(const UpstreamFault& fault) {
    FaultyNode node(fault.script);
    DaemonConfig config = config_for({node.url()});
    config.chain.emplace_back("reads: {max_attempts: 1}");
    const Daemon daemon(config);
    REQUIRE(daemon.wait_for_state("a", "fit"));
    std::optional<RawClient> client(daemon.rpc_address());
    const int rounds = fault.outcome == Outcome::late ? 1 : 2;
    for (int round = 1; round <= rounds; ++round) {
        const HttpResponse response = client->post("/", kCall);
        CAPTURE(round, response.body.substr(0, 500));
        CHECK(node.calls() == round);
        // What came in one piece with its fault is judged whole, long or not.
        const bool was_cut = response.end == HttpResponse::End::cut;
        switch (fault.outcome == Outcome::cut && !was_cut ? Outcome::unusable : fault.outcome) {
            case Outcome::usable:
                check_whole(response, 200);
                CHECK(result_of(response.body) == kOwnResult);
                break;
            case Outcome::cut:
                CHECK(client->is_closed());
                client.emplace(daemon.rpc_address());
                break;
            case Outcome::unusable:
                check_whole(response, 502);
                CHECK(type_of(response.body) == "bad_upstream_reply");
                break;
            case Outcome::late:
                check_whole(response, 504);
                CHECK(type_of(response.body) == "deadline");
                break;
        }
    }
    if (fault.reuse == Reuse::never) {
        CHECK(node.reuses() == 0);
    }
}

}  // namespace

TEST_CASE("a reply that is wrong in any way", "[daemon]") {
    Trap trap;
    Simulators simulators;
    const std::string other = simulators.add().url();
    const std::vector<UpstreamFault> faults = upstream_faults(trap.peer.port());
    CHECK(faults.size() >= 150);
    for (const UpstreamFault& fault : faults) {
        DYNAMIC_SECTION(fault.name) {
            check_with_another(fault, other);
            check_alone(fault);
        }
    }
    CHECK(trap.seen == 0);
}
