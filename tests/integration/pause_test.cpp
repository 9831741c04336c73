// A process that stood still (a suspended machine, SIGSTOP) goes on without a storm.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Provider;

TEST_CASE("after it was stopped for a while it serves at once and asks no more than usual",
          "[daemon]") {
    Simulators simulators;
    Provider& a = simulators.add();
    Provider& b = simulators.add();
    DaemonConfig config = DaemonConfig::with({a.url(), b.url()});
    config.chain = {"head: {poll_interval: 500ms}"};
    Daemon daemon(config);
    REQUIRE(daemon.wait_for_state("a", "fit"));
    REQUIRE(daemon.wait_for_state("b", "fit"));
    RawClient client(daemon.rpc_address());
    CHECK(client.post("/", rpc("eth_gasPrice")).status == 200);

    daemon.process().signal(SIGSTOP);
    const auto before = a.counts().requests + b.counts().requests;
    std::this_thread::sleep_for(10s);  // twenty polls of each that do not happen
    CHECK(a.counts().requests + b.counts().requests == before);
    daemon.process().signal(SIGCONT);
    const auto start = std::chrono::steady_clock::now();
    CHECK(client.post("/", rpc("eth_gasPrice")).status == 200);
    CHECK(std::chrono::steady_clock::now() - start < 2s);
    std::this_thread::sleep_for(2s);  // the time in which a storm would come
    // Four polls of each, a check of each identity, the call itself, and as much again.
    CHECK(a.counts().requests + b.counts().requests - before <= 24);
    CHECK(daemon.is_ready());
}
