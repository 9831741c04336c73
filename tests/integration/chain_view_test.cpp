// What the program makes of upstreams that disagree, and what operators see and do about it.
#include "core/hex.hpp"
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <chrono>
#include <string>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Provider;
using simulator::Script;

namespace {

// A provider whose head lies far ahead, with timestamps that fit its numbers.
Script liar() {
    Script script;
    const std::string number = core::to_quantity(901'000);
    script.answers["eth_blockNumber"] = '"' + number + '"';
    script.answers["eth_getBlockByNumber"] = R"({"number":")" + number + R"(","hash":"0x)" +
                                             std::string(64, 'f') + R"(","parentHash":"0x)" +
                                             std::string(64, 'e') + R"(","timestamp":")" +
                                             core::to_quantity(901'000 * 12) + R"("})";
    return script;
}

std::string head_of(const Daemon& daemon) {
    return result_of(daemon.post(rpc("eth_blockNumber")).body);
}

// The first one serves whatever it can.
DaemonConfig in_two_tiers(const Provider& first, const Provider& second) {
    DaemonConfig config;
    config.upstreams = {{"first", first.url(), "tier: 0"}, {"second", second.url(), "tier: 1"}};
    return config;
}

bool lists(const Daemon& daemon, std::string_view kind, std::string_view upstream) {
    const std::string wanted =
        R"("kind":")" + std::string(kind) + R"(","upstream":")" + std::string(upstream) + '"';
    return daemon.admin("/api/disagreements").body.find(wanted) != std::string::npos;
}

}  // namespace

TEST_CASE("a liar that answers before anybody else moves no client", "[daemon]") {
    const std::size_t honest = GENERATE(1U, 2U);
    Simulators simulators;
    DaemonConfig config;
    config.upstreams.push_back({"liar", simulators.add(liar()).url()});
    for (std::size_t i = 0; i < honest; ++i) {
        Script slow;
        slow.latency = 200ms;
        config.upstreams.push_back({"h" + std::to_string(i), simulators.add(slow).url()});
    }
    config.chain = {"timeouts: {request: 5s, attempt: 1s}"};
    Daemon daemon(config);
    for (std::size_t i = 0; i < honest; ++i) {
        REQUIRE(daemon.wait_for_state("h" + std::to_string(i), "fit"));
    }
    CHECK(daemon.wait_for_state("liar", "lagging"));
    const std::string truth = '"' + core::to_quantity(simulators.chain().head()) + '"';
    for (int i = 0; i < 10; ++i) {
        CHECK(head_of(daemon) == truth);
    }
    CHECK(wait_until([&] { return lists(daemon, "implausible_head", "liar"); }));
    CHECK(wait_until([&] {
        return daemon.admin("/metrics")
                   .body.find(R"(kind="implausible_head",chain="ethereum"} 1)") !=
               std::string::npos;
    }));
    CHECK(wait_until([&] {
        return daemon.process().all_output().find("upstreams disagree") != std::string::npos;
    }));
}

TEST_CASE("an upstream of another chain is on record as such", "[daemon]") {
    Simulators simulators;
    Script wrong;
    wrong.chain_id = 5;
    const std::string good = simulators.add().url();
    Daemon daemon(DaemonConfig::with({good, simulators.add(wrong).url()}));
    REQUIRE(daemon.wait_for_state("b", "wrong_chain"));
    CHECK(wait_until([&] { return lists(daemon, "wrong_network", "b"); }));
}

TEST_CASE("who answers on another chain after a broken connection gets no call", "[daemon]") {
    Simulators simulators;
    Provider& first = simulators.add();
    Provider& second = simulators.add();
    Daemon daemon(in_two_tiers(first, second));
    REQUIRE(daemon.wait_for_state("first", "fit"));
    REQUIRE(daemon.wait_for_state("second", "fit"));
    first.change([](Script& script) {
        script.chain_id = 5;
        script.faults.methods = {"eth_gasPrice"};
        script.faults.crooked = simulator::Crooked::cut_midway;
        script.faults.crooked_next = 1;
    });
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
    for (int i = 0; i < 20; ++i) {
        CHECK(daemon.post(rpc("eth_getBalance", R"(["0x00","latest"])")).status == 200);
        CHECK(daemon.post(rpc("eth_sendRawTransaction", R"(["0x02"])")).status == 200);
    }
    CHECK(first.counts().calls_of("eth_gasPrice") == 1);
    CHECK(first.counts().calls_of("eth_getBalance") == 0);
    CHECK(first.counts().calls_of("eth_sendRawTransaction") == 0);
    CHECK(daemon.wait_for_state("first", "wrong_chain"));
}

TEST_CASE("a lagging upstream gets no read of the latest block, and serves old blocks",
          "[daemon]") {
    Simulators simulators;
    Script behind;
    behind.lag_blocks = 20;
    Provider& lagging = simulators.add(behind);
    Provider& good = simulators.add();
    Daemon daemon(in_two_tiers(lagging, good));
    REQUIRE(daemon.wait_for_state("first", "lagging"));
    for (int i = 0; i < 20; ++i) {
        CHECK(daemon.post(rpc("eth_getBalance", R"(["0x00","latest"])")).status == 200);
    }
    CHECK(lagging.counts().calls_of("eth_getBalance") == 0);
    const HttpResponse old = daemon.post(rpc("eth_getBlockReceipts", R"(["0x10"])"));
    CHECK(old.status == 200);
    CHECK(lagging.counts().calls_of("eth_getBlockReceipts") == 1);
    CHECK(wait_until([&] { return lists(daemon, "lag", "first"); }));
}

TEST_CASE("an operator drains an upstream and resumes it", "[daemon]") {
    Simulators simulators;
    Provider& first = simulators.add();
    Provider& second = simulators.add();
    Daemon daemon(in_two_tiers(first, second));
    REQUIRE(daemon.wait_for_state("first", "fit"));
    REQUIRE(daemon.wait_for_state("second", "fit"));
    const auto act = [&daemon](std::string_view action, std::string_view fields = {}) {
        RawClient client(daemon.admin_address());
        return client.post("/api/upstreams/ethereum/first/" + std::string(action), "{}", fields);
    };
    const HttpResponse drained = act("drain");
    CHECK(drained.status == 200);
    CHECK(drained.body == R"({"chain":"ethereum","upstream":"first","state":"drained"})");
    CHECK(daemon.wait_for_state("first", "drained"));
    for (int i = 0; i < 5; ++i) {
        daemon.post(rpc("eth_gasPrice"));
    }
    CHECK(first.counts().calls_of("eth_gasPrice") == 0);
    CHECK(second.counts().calls_of("eth_gasPrice") == 5);

    CHECK(act("resume", "Origin: http://localhost:1\r\n").status == 403);
    CHECK(daemon.wait_for_state("first", "drained"));
    CHECK(act("resume").status == 200);
    CHECK(daemon.wait_for_state("first", "fit"));
    daemon.post(rpc("eth_gasPrice"));
    CHECK(first.counts().calls_of("eth_gasPrice") == 1);
}
