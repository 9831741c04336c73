// The best of three providers dies under load.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Provider;
using simulator::Script;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr unsigned kClients = 25;
constexpr milliseconds kPeriod = 50ms;  // of each client: 500 calls a second in all

struct Sample {
    milliseconds due;  // since the start
    milliseconds took;
    bool good = false;
};

// Each client calls at its times, whatever became of the call before; what it waits for a call that
// comes late counts.
void call_on_time(const std::string& address, unsigned client, Clock::time_point start,
                  milliseconds length, std::vector<Sample>& samples) {
    RawClient connection(address);
    for (milliseconds due = client * kPeriod / kClients; due < length; due += kPeriod) {
        std::this_thread::sleep_until(start + due);
        const HttpResponse response = connection.post("/", rpc("eth_gasPrice"));
        const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - (start + due));
        samples.push_back({due, took, response.status == 200 && !result_of(response.body).empty()});
    }
}

milliseconds p99(const std::vector<Sample>& samples, milliseconds from, milliseconds to) {
    std::vector<milliseconds> times;
    for (const Sample& sample : samples) {
        if (sample.due >= from && sample.due < to) {
            times.push_back(sample.took);
        }
    }
    REQUIRE(times.size() > 400);
    std::sort(times.begin(), times.end());
    return times[times.size() * 99 / 100];
}

Script after(milliseconds latency) {
    Script script;
    script.latency = latency;
    return script;
}

}  // namespace

TEST_CASE("killing the best of three under 500 calls a second loses no read, and no time",
          "[daemon]") {
    Simulators simulators;
    Provider& best = simulators.add(after(20ms));
    DaemonConfig config = DaemonConfig::with(
        {best.url(), simulators.add(after(30ms)).url(), simulators.add(after(30ms)).url()});
    Daemon daemon(config);
    for (const char* name : {"a", "b", "c"}) {
        REQUIRE(daemon.wait_for_state(name, "fit"));
    }
    constexpr milliseconds kKill = 4s;
    constexpr milliseconds kLength = 7s;
    const Clock::time_point start = Clock::now();
    std::vector<std::vector<Sample>> of_clients(kClients);
    std::vector<std::thread> clients;
    for (unsigned i = 0; i < kClients; ++i) {
        clients.emplace_back(
            [&, i] { call_on_time(daemon.rpc_address(), i, start, kLength, of_clients[i]); });
    }
    std::this_thread::sleep_until(start + kKill);
    const std::uint64_t served_by_best = best.counts().calls_of("eth_gasPrice");
    best.change([](Script& script) { script.availability = simulator::Availability::down; });
    for (std::thread& client : clients) {
        client.join();
    }
    std::vector<Sample> all;
    for (const std::vector<Sample>& samples : of_clients) {
        all.insert(all.end(), samples.begin(), samples.end());
    }
    CHECK(served_by_best > 600);  // it was the best
    CHECK(daemon.wait_for_state("a", "circuit_open"));
    CHECK(std::all_of(all.begin(), all.end(), [](const Sample& each) { return each.good; }));
    const milliseconds healthy = p99(all, kKill - 1s, kKill);
    for (milliseconds from = kKill; from < kLength; from += 1s) {
        INFO("healthy " << healthy.count() << " ms, from " << from.count());
        CHECK(p99(all, from, from + 1s) <= 2 * healthy);
    }
}
