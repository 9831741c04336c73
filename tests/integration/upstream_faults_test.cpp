// What providers do wrong, seen by a client of the real program: another upstream's answer or the
// one right error, and never half an answer that looks whole.
#include "support/upstream_faults.hpp"

#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace weir;
using namespace weir::test;
using Outcome = UpstreamFault::Outcome;
using Reuse = UpstreamFault::Reuse;

namespace {

const std::string kCall = rpc("eth_gasPrice", "[]", "77");
const std::string kOthersResult = R"("0x59682f00")";  // the simulator's

DaemonConfig config_for(const UpstreamFault& fault, const std::vector<std::string>& urls) {
    DaemonConfig config = DaemonConfig::with(urls);
    config.threads = 1;
    if (urls.size() > 1) {
        config.upstreams[1].more = "tier: 1";  // asked only where the first one fails
    }
    // What is silent is waited for; what is not must not seem so on a busy machine.
    const char* timeouts = "timeouts: {request: 15s, slow_request: 15s, attempt: 10s}";
    if (fault.outcome == Outcome::late) {
        timeouts = "timeouts: {request: 1s, slow_request: 1s, attempt: 300ms}";
    } else if (fault.outcome == Outcome::cut) {
        timeouts = "timeouts: {request: 2s, slow_request: 2s, attempt: 10s}";
    }
    config.chain = {"reply_buffer: 64KiB", "max_reply: 1MiB", timeouts,
                    "circuit: {failures: 1000}"};
    return config;
}

// A server that nobody may connect to.
struct Trap {
    std::atomic<int> seen = 0;
    ScriptedPeer peer{[this](PeerConnection&, int) { ++seen; }};
};

// Everything that a response has to be; says what it is not.
class Complaint {
  public:
    Complaint(std::string where, const HttpResponse& response)
        : where_(std::move(where)), response_(response) {}

    void expect(bool holds, const std::string& what) {
        if (!holds) {
            text_ += where_ + ": not " + what + ": " + std::to_string(response_.status) + " " +
                     response_.body.substr(0, 300) + "\n";
        }
    }
    void expect_whole(int status) {
        expect(response_.status == status, "HTTP " + std::to_string(status));
        expect(response_.end == HttpResponse::End::complete, "complete");
        expect(jsonrpc::is_valid(response_.body), "JSON");
        expect(id_of(response_.body) == "77", "for this call");
    }
    void expect_result(const std::string& result, const std::string& attempts) {
        expect_whole(200);
        expect(result_of(response_.body) == result, "the result " + result);
        expect(response_.field("Weir-Attempts") == attempts, "after " + attempts + " attempts");
    }
    void expect_error(int status, const std::string& type) {
        expect_whole(status);
        expect(type_of(response_.body) == type, type);
    }
    std::string text() const { return text_; }

  private:
    std::string where_;
    const HttpResponse& response_;
    std::string text_;
};

std::string complaint_with_another(const UpstreamFault& fault, const std::string& other) {
    FaultyNode node(fault.script);
    const Daemon daemon(config_for(fault, {node.url(), other}));
    if (!daemon.wait_for_state("a", "fit") || !daemon.wait_for_state("b", "fit")) {
        return "the upstreams are not fit";
    }
    const HttpResponse response = daemon.post(kCall);
    Complaint complaint("with another", response);
    if (fault.outcome == Outcome::cut && response.end == HttpResponse::End::cut) {
        complaint.expect(response.status == 200, "HTTP 200");
        complaint.expect(!jsonrpc::is_valid(response.body), "cut within the JSON");
    } else if (fault.outcome == Outcome::usable) {
        complaint.expect_result(kOwnResult, "1");
    } else {
        complaint.expect_result(kOthersResult, "2");
    }
    complaint.expect(node.calls() == 1, "asked once");
    return complaint.text();
}

std::string complaint_alone(const UpstreamFault& fault) {
    FaultyNode node(fault.script);
    DaemonConfig config = config_for(fault, {node.url()});
    config.chain.emplace_back("reads: {max_attempts: 1}");
    const Daemon daemon(config);
    if (!daemon.wait_for_state("a", "fit")) {
        return "the upstream is not fit";
    }
    std::string text;
    std::optional<RawClient> client(daemon.rpc_address());
    const int rounds = fault.outcome == Outcome::late ? 1 : 2;
    for (int round = 1; round <= rounds; ++round) {
        const HttpResponse response = client->post("/", kCall);
        Complaint complaint("alone, round " + std::to_string(round), response);
        complaint.expect(node.calls() == round, "asked once");
        // What came in one piece with its fault is judged whole, long or not.
        const bool was_cut = response.end == HttpResponse::End::cut;
        switch (fault.outcome == Outcome::cut && !was_cut ? Outcome::unusable : fault.outcome) {
            case Outcome::usable:
                complaint.expect_result(kOwnResult, "1");
                break;
            case Outcome::cut:
                complaint.expect(client->is_closed(), "closed");
                client.emplace(daemon.rpc_address());
                break;
            case Outcome::unusable:
                complaint.expect_error(502, "bad_upstream_reply");
                break;
            case Outcome::late:
                complaint.expect_error(504, "deadline");
                break;
        }
        if (fault.reuse == Reuse::never) {
            complaint.expect(node.reuses() == 0, "on a connection that is not in doubt");
        }
        text += complaint.text();
    }
    return text;
}

}  // namespace

TEST_CASE("a reply that is wrong in any way", "[daemon]") {
    Trap trap;
    Simulators simulators;
    const std::string other = simulators.add().url();
    const std::vector<UpstreamFault> faults = upstream_faults(trap.peer.port());
    CHECK(faults.size() >= 150);
    // They mostly wait; a few at a time.
    std::vector<std::string> complaints(faults.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < faults.size(); i = next++) {
            try {
                complaints[i] =
                    complaint_with_another(faults[i], other) + complaint_alone(faults[i]);
            } catch (const std::exception& error) {
                complaints[i] = error.what();
            }
        }
    };
    {
        std::vector<std::jthread> workers;
        for (int i = 0; i < 6; ++i) {
            workers.emplace_back(work);
        }
    }
    for (std::size_t i = 0; i < faults.size(); ++i) {
        INFO(faults[i].name);
        CHECK(complaints[i] == "");
    }
    CHECK(trap.seen == 0);
}
