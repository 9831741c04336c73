// Upstreams at their in-flight cap: who waits for a place, and what those hear who find none.
#include "support/catch.hpp"
#include "support/gateway.hpp"
#include "support/rpc.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;

namespace {

config::Config capped(std::size_t upstreams, std::size_t most) {
    config::Config config = gateway_config(upstreams);
    config.chains[0].upstreams[0].max_in_flight = most;
    return config;
}

std::size_t at(const Gateway& gateway, routing::UpstreamIndex upstream) {
    const auto seen = gateway.seen();
    return static_cast<std::size_t>(std::count_if(
        seen.begin(), seen.end(), [&](const auto& one) { return one.upstream == upstream; }));
}

// Answers after so long.
Gateway::Script slowly(core::Duration delay) {
    return [delay](const Sent&) {
        Reaction reaction = result("\"ok\"");
        reaction.delay = delay;
        return reaction;
    };
}

}  // namespace

TEST_CASE("calls beyond the in-flight cap wait for a place") {
    config::Config config = capped(1, 2);
    Gateway gateway(config, 2);
    gateway.on(0, slowly(30ms));
    std::vector<Gateway::Exchange*> exchanges;
    for (int i = 0; i < 20; ++i) {
        exchanges.push_back(&gateway.start(rpc("eth_gasPrice")));
    }
    for (const Gateway::Exchange* exchange : exchanges) {
        REQUIRE(Gateway::finish(*exchange));
        CHECK(exchange->sink.head.status == 200);
    }
    const auto seen = gateway.seen();
    REQUIRE(seen.size() == 20);
    CHECK(seen.back().at - seen.front().at >= 9 * 29ms);
}

TEST_CASE("a call that finds no place in flight within its patience is told of overload") {
    config::Config config = capped(1, 1);
    config.chains[0].rate_limits.max_wait = 100ms;
    config.chains[0].timeouts.request = 1s;
    Gateway gateway(config);
    gateway.on(0, hangs());
    const auto& first = gateway.start(rpc("eth_gasPrice"));
    REQUIRE(wait_until([&] { return at(gateway, 0) == 1; }));
    const auto& second = gateway.ask(rpc("eth_gasPrice"));
    CHECK(type_of(second.sink.body) == "overloaded");
    CHECK(second.sink.head.retry_after_seconds == 1);
    CHECK(Gateway::finish(first));
}

TEST_CASE("calls that the in-flight cap alone keeps waiting too long are told of overload") {
    const std::string body =
        GENERATE(as<std::string>(), rpc("eth_gasPrice"), rpc("eth_sendTransaction", "[{}]"));
    config::Config config = capped(1, 1);
    config.chains[0].rate_limits.max_wait = 300ms;
    Gateway gateway(config, 2);
    gateway.on(0, slowly(20ms));
    std::vector<Gateway::Exchange*> exchanges;
    for (int i = 0; i < 60; ++i) {
        exchanges.push_back(&gateway.start(body));
    }
    std::size_t served = 0;
    for (const Gateway::Exchange* exchange : exchanges) {
        REQUIRE(Gateway::finish(*exchange));
        if (result_of(exchange->sink.body) == "\"ok\"") {
            ++served;
            continue;
        }
        CHECK(type_of(exchange->sink.body) == "overloaded");
        CHECK(exchange->sink.head.status == 503);
        CHECK(exchange->sink.head.retry_after_seconds == 1);
    }
    CHECK(served >= 2);
    CHECK(served < 60);
    CHECK(at(gateway, 0) == served);
}

TEST_CASE("one upstream at its cap, the other one limited: the limit is what clients are told") {
    config::Config config = capped(2, 1);
    config.chains[0].rate_limits.max_wait = 100ms;
    config.chains[0].timeouts.request = 1s;
    Gateway gateway(config);
    gateway.on(0, hangs());
    gateway.on(1, rpc_error(-32005, "rate limit exceeded, retry in 2s"));
    const auto& first = gateway.start(rpc("eth_gasPrice"));
    REQUIRE(wait_until([&] { return at(gateway, 0) == 1; }));
    for (int i = 0; i < 2; ++i) {
        const auto& other = gateway.ask(rpc("eth_gasPrice"));
        CHECK(type_of(other.sink.body) == "rate_limited");
        CHECK(other.sink.head.status == 429);
    }
    CHECK(at(gateway, 1) == 1);
    CHECK(Gateway::finish(first));
}

TEST_CASE("a batch that waits for a place ends with its client") {
    Gateway gateway(capped(1, 1));
    gateway.on(0, hangs());
    auto& first = gateway.start(rpc("eth_gasPrice"));
    REQUIRE(wait_until([&] { return at(gateway, 0) == 1; }));
    auto& waiting = gateway.start("[" + rpc("eth_gasPrice") + "," + rpc("eth_call") + "]");
    const upstream::Turn next{.among = routing::Tried().set(0),
                              .traits = &routing::find_method("eth_call")};
    gateway.client_leaves(waiting);
    REQUIRE(Gateway::finish(waiting));
    gateway.client_leaves(first);
    REQUIRE(Gateway::finish(first));
    CHECK(at(gateway, 0) == 1);
    const core::TimePoint now = gateway.clock.now();
    CHECK(gateway.pool().outlook(next, now).obstacle == upstream::Obstacle::none);
}

TEST_CASE("no more than so many calls wait") {
    config::Config config = capped(1, 1);
    config.chains[0].rate_limits.max_wait = 300ms;
    Gateway gateway(config);
    gateway.on(0, slowly(1s));
    std::vector<Gateway::Exchange*> exchanges;
    for (std::size_t i = 0; i < upstream::Pool::kMaxWaiting + 101; ++i) {
        exchanges.push_back(&gateway.start(rpc("eth_gasPrice")));
    }
    std::size_t turned_away = 0;
    for (const Gateway::Exchange* exchange : exchanges) {
        REQUIRE(Gateway::finish(*exchange));
        turned_away +=
            exchange->sink.body.find("too many calls wait") != std::string::npos ? 1U : 0U;
    }
    CHECK(turned_away == 100);
}
