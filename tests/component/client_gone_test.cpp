// A client that leaves before its answer: an outcome of its own, not a failure of anybody's.
#include "support/catch.hpp"
#include "support/gateway.hpp"
#include "support/rpc.hpp"

#include <string>
#include <utility>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* kToken = "token-of-the-first";

config::Config one_upstream() {
    config::Config config = gateway_config(1);
    config.clients.resize(1);
    config.clients[0].name = "a";
    config.clients[0].tokens.emplace_back(kToken);
    return config;
}

Gateway::Exchange& start(Gateway& gateway, std::string body) {
    return gateway.start(std::move(body), kToken);
}

std::size_t sent(const Gateway& gateway) { return gateway.seen().size(); }

// The value of a series; 0 where it is not there.
double value_of(const std::string& metrics, const std::string& series) {
    const std::size_t at = metrics.find("\n" + series + " ");
    return at == std::string::npos ? 0 : std::stod(metrics.substr(at + series.size() + 2));
}

// Of calls, by method and outcome; each counts at the client as well.
double counted(Gateway& gateway, const std::string& method, const std::string& outcome) {
    return value_of(gateway.metrics(), R"(weir_requests_total{chain="test",method=")" + method +
                                           R"(",outcome=")" + outcome + "\"}");
}
double of_client(Gateway& gateway, const std::string& outcome) {
    return value_of(
        gateway.metrics(),
        R"(weir_client_calls_total{client="a",chain="test",outcome=")" + outcome + "\"}");
}

// `calls` calls of one client were told nothing, and the chain's clients met nothing else.
void check_all_gone(Gateway& gateway, std::uint64_t calls) {
    CHECK(of_client(gateway, "client_gone") == static_cast<double>(calls));
    for (const char* failure : {"no_upstream", "rate_limited", "overloaded", "deadline",
                                "bad_upstream_reply", "snapshot_unavailable"}) {
        INFO(failure);
        CHECK(of_client(gateway, failure) == 0);
    }
    CHECK(value_of(gateway.metrics(),
                   R"(weir_rate_limited_total{chain="test",scope="upstream"})") == 0);
    const auto met = gateway.pool().traffic().latest(gateway.clock.now()).met;
    CHECK(met.gone == calls);
    CHECK(met.calls == 0);
    CHECK(met.failed == 0);
    CHECK(met.limited == 0);
    CHECK_FALSE(met.p50.has_value());
}

}  // namespace

TEST_CASE("reads whose client leaves while they run are client_gone") {
    Gateway gateway(one_upstream());
    gateway.on(0, hangs());
    SECTION("one") {
        auto& reading = start(gateway, rpc("eth_call"));
        REQUIRE(wait_until([&] { return sent(gateway) == 1; }));
        gateway.client_leaves(reading);
        REQUIRE(Gateway::finish(reading));
        check_all_gone(gateway, 1);
        CHECK(counted(gateway, "eth_call", "client_gone") == 1);
    }
    SECTION("a batch") {
        auto& reading = start(
            gateway, "[" + rpc("eth_call") + "," + rpc("eth_gasPrice") + "," +
                         rpc("eth_getLogs", R"([{"fromBlock":"0x1","toBlock":"0x2"}])") + "]");
        REQUIRE(wait_until([&] { return sent(gateway) > 0; }));
        gateway.client_leaves(reading);
        REQUIRE(Gateway::finish(reading));
        check_all_gone(gateway, 3);
    }
    SECTION("after a part of its batch was answered") {
        gateway.on(0, [](const Sent& message) {
            return message.body.find("eth_getLogs") != std::string::npos ? hangs()
                                                                         : result("\"ok\"");
        });
        auto& reading = start(
            gateway, "[" + rpc("eth_gasPrice") + "," +
                         rpc("eth_getLogs", R"([{"fromBlock":"0x1","toBlock":"0x2"}])") + "]");
        REQUIRE(wait_until([&] { return sent(gateway) == 2; }));
        gateway.client_leaves(reading);
        REQUIRE(Gateway::finish(reading));
        check_all_gone(gateway, 2);
    }
}

TEST_CASE("calls whose client leaves while they wait are client_gone, writes too") {
    const std::string method = GENERATE(as<std::string>(), "eth_call", "eth_sendTransaction");
    CAPTURE(method);
    SECTION("for an upstream's rate") {
        config::Config config = one_upstream();
        config.chains[0].upstreams[0].rate = {.calls_per_second = 0.5, .burst = 1};
        Gateway gateway(config);
        auto& served = start(gateway, rpc("eth_gasPrice"));
        REQUIRE(Gateway::finish(served));
        const bool is_batch = GENERATE(false, true);
        auto& waiting =
            start(gateway, is_batch ? "[" + rpc(method) + "," + rpc(method) + "]" : rpc(method));
        gateway.client_leaves(waiting);
        REQUIRE(Gateway::finish(waiting));
        CHECK(sent(gateway) == 1);
        CHECK(counted(gateway, method, "client_gone") == (is_batch ? 2 : 1));
        CHECK(counted(gateway, method, "rate_limited") == 0);
        CHECK(gateway.pool().traffic().latest(gateway.clock.now()).met.limited == 0);
    }
    SECTION("for a place in flight") {
        config::Config config = one_upstream();
        config.chains[0].upstreams[0].max_in_flight = 1;
        Gateway gateway(config);
        gateway.on(0, hangs());
        auto& first = start(gateway, rpc("eth_gasPrice"));
        REQUIRE(wait_until([&] { return sent(gateway) == 1; }));
        auto& waiting = start(gateway, rpc(method));
        gateway.client_leaves(waiting);
        REQUIRE(Gateway::finish(waiting));
        gateway.client_leaves(first);
        REQUIRE(Gateway::finish(first));
        check_all_gone(gateway, 2);
        CHECK(sent(gateway) == 1);
    }
    SECTION("for their client's own rate") {
        config::Config config = one_upstream();
        config.clients[0].rate = {.calls_per_second = 0.5, .burst = 1};
        Gateway gateway(config);
        auto& served = start(gateway, rpc("eth_gasPrice"));
        REQUIRE(Gateway::finish(served));
        auto& waiting = start(gateway, rpc(method));
        gateway.client_leaves(waiting);
        REQUIRE(Gateway::finish(waiting));
        CHECK(sent(gateway) == 1);
        CHECK(counted(gateway, method, "client_gone") == 1);
        CHECK(gateway.pool().traffic().latest(gateway.clock.now()).met.calls == 1);
    }
}

TEST_CASE("a write that was sent keeps what became of it, whoever hears of it") {
    Gateway gateway(one_upstream());
    using Case = std::pair<Reaction, const char*>;
    auto [reaction, outcome] = GENERATE(values<Case>({{result("\"0x1\""), "ok"},
                                                      {rpc_error(-32000, "no funds"), "rpc_error"},
                                                      {html(500), "broadcast_unknown"}}));
    reaction.delay = 300ms;
    gateway.on(0, reaction);
    const std::string write = rpc("eth_sendTransaction", "[{}]");
    const bool is_batch = GENERATE(false, true);
    auto& writing = start(gateway, is_batch ? "[" + write + "," + write + "]" : write);
    REQUIRE(wait_until([&] { return sent(gateway) > 0; }));
    gateway.client_leaves(writing);
    REQUIRE(Gateway::finish(writing));
    CHECK(sent(gateway) == 1);
    CHECK(counted(gateway, "eth_sendTransaction", outcome) == 1);
    CHECK(counted(gateway, "eth_sendTransaction", "client_gone") == (is_batch ? 1 : 0));
}

TEST_CASE("an outage is told by those who stay, whoever else leaves") {
    Gateway gateway(one_upstream());
    gateway.on(0, [](const Sent& message) {
        return message.body.find("eth_gasPrice") != std::string::npos ? html(500) : hangs();
    });
    auto& leaving = start(gateway, rpc("eth_call"));
    REQUIRE(wait_until([&] { return sent(gateway) == 1; }));
    gateway.client_leaves(leaving);
    REQUIRE(Gateway::finish(leaving));
    auto& staying = start(gateway, rpc("eth_gasPrice"));
    REQUIRE(Gateway::finish(staying));
    const auto met = gateway.pool().traffic().latest(gateway.clock.now()).met;
    CHECK(met.calls == 1);
    CHECK(met.failed == 1);
    CHECK(met.gone == 1);
}
