// A process that stood still (a suspended machine, SIGSTOP) goes on without a storm.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/load.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Provider;
using simulator::Script;
using Clock = std::chrono::steady_clock;

namespace {

// Longer than a request may take. `./dev soak` takes 30.
std::chrono::seconds standstill() {
    const char* const value = std::getenv("WEIR_PAUSE_SECONDS");
    return std::chrono::seconds(value != nullptr ? std::stol(value) : 10);
}

// What a simulated provider has met.
struct Met {
    std::uint64_t calls = 0;
    std::uint64_t probes = 0;

    explicit Met(const Provider& provider) {
        const simulator::Counts counts = provider.counts();
        calls = counts.calls_of("eth_gasPrice");
        for (const auto& [method, number] : counts.calls) {
            probes += method == "eth_gasPrice" ? 0 : number;
        }
    }
};

}  // namespace

TEST_CASE("after it stood still under load it serves at once and asks no more than usual",
          "[daemon][pause]") {
    constexpr int kClients = 400;  // more than an event loop takes from the kernel in one look
    Simulators simulators({.block_time = 1s});
    Script script;
    script.latency = 400ms;
    Provider& a = simulators.add(script);
    Provider& b = simulators.add(script);
    Daemon daemon(DaemonConfig::with({a.url(), b.url()}));
    REQUIRE(daemon.wait_for_state("a", "fit"));
    REQUIRE(daemon.wait_for_state("b", "fit"));
    Load load(daemon.rpc_address(), kClients, 1s);
    REQUIRE(wait_until([&] { return load.answered() > 2 * kClients; }));

    daemon.process().signal(SIGSTOP);
    std::this_thread::sleep_for(standstill());
    const Met a_before(a);
    const Met b_before(b);
    const std::size_t answered = load.answered();
    daemon.process().signal(SIGCONT);
    // What was on its way is answered by what has come meanwhile, and what comes anew as ever.
    const Clock::time_point start = Clock::now();
    CHECK(wait_until([&] { return load.answered() >= answered + kClients; }, 2s));
    for (int second = 1; second <= 4; ++second) {
        std::this_thread::sleep_until(start + second * 1s);  // the time in which a storm would come
        CAPTURE(second);
        for (const auto& [provider, before] : {std::pair{&a, a_before}, std::pair{&b, b_before}}) {
            const Met met(*provider);
            // A poll a second, one at once, the chain's identity, what is safe and what finalized.
            CHECK(met.probes - before.probes <= 4U + static_cast<unsigned>(second));
        }
    }
    CHECK(daemon.is_ready());
    CHECK(daemon.wait_for_state("a", "fit"));
    CHECK(daemon.wait_for_state("b", "fit"));
    load.stop();
    INFO(load.first_failure());
    CHECK(load.failed() == 0);
    // Each call went out once: nobody was blamed, nothing was asked again.
    CHECK(Met(a).calls + Met(b).calls == load.sent());
    const std::string metrics = daemon.admin("/metrics").body;
    for (const char* const upstream : {"a", "b"}) {
        CHECK(metrics.find(std::string(R"(upstream=")") + upstream + R"(",cause="timeout"} 0)") !=
              std::string::npos);
    }
}
