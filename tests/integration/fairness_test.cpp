// One client at ten times its rate beside another: the other notices nothing.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Provider;
using simulator::Script;
using Clock = std::chrono::steady_clock;

namespace {

constexpr const char* kQuiet = "/token-of-the-quiet-client";
constexpr const char* kNoisy = "/token-of-the-noisy-client";

// The slowest but two of 200 calls at 100 a second, all of which must be answered.
Clock::duration p99(const Daemon& daemon) {
    RawClient client(daemon.rpc_address());
    std::vector<Clock::duration> took;
    Clock::time_point next = Clock::now();
    for (int i = 0; i < 200; ++i) {
        std::this_thread::sleep_until(next);  // the pace, not a wait
        next += 10ms;
        const Clock::time_point start = Clock::now();
        CHECK(client.post(kQuiet, rpc("eth_gasPrice")).status == 200);
        took.push_back(Clock::now() - start);
    }
    std::sort(took.begin(), took.end());
    return took[197];
}

}  // namespace

TEST_CASE("a client at ten times its rate does not slow another one down", "[daemon]") {
    Simulators simulators;
    Script script;
    script.latency = 10ms;
    Provider& provider = simulators.add(script);
    DaemonConfig config = DaemonConfig::with({provider.url()});
    config.top = {
        "clients:", "  - {name: quiet, token: token-of-the-quiet-client}",
        "  - {name: noisy, token: token-of-the-noisy-client, rate: {calls_per_second: 20}}"};
    config.chain = {"rate_limits: {max_wait: 500ms}"};
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    std::atomic<bool> over = false;
    std::atomic<bool> noisy = false;
    std::atomic<std::size_t> refused = 0;
    std::vector<std::thread> noise;
    for (int i = 0; i < 20; ++i) {
        noise.emplace_back([&] {
            RawClient client(daemon.rpc_address());
            while (!over) {
                if (!noisy) {
                    std::this_thread::sleep_for(1ms);
                    continue;
                }
                const HttpResponse response = client.post(kNoisy, rpc("eth_gasPrice"));
                if (response.status == 429) {
                    ++refused;
                    std::this_thread::sleep_for(100ms);  // 200 calls a second in all
                }
            }
        });
    }
    // What the machine does beside the test is no part of it: a difference that is there in each of
    // several rounds is the program's.
    bool undisturbed = false;
    for (int round = 0; round < 4 && !undisturbed; ++round) {
        noisy = false;
        const Clock::duration quiet = p99(daemon);
        noisy = true;
        const std::size_t before = refused;
        CHECK(wait_until([&] { return refused > before + 20; }));
        const Clock::duration beside = p99(daemon);
        undisturbed = beside <= 2 * quiet;
        CAPTURE(round, quiet.count(), beside.count());
        CHECK((undisturbed || round < 3));
    }
    over = true;
    for (std::thread& each : noise) {
        each.join();
    }
}
