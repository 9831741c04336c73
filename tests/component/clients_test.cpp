// A team's clients before scripted upstreams: rates, methods, turns, filters, counts.
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

constexpr const char* kFirst = "token-of-the-first";
constexpr const char* kSecond = "token-of-the-second";

config::Config team(std::size_t upstreams = 1) {
    config::Config config = gateway_config(upstreams);
    config.clients.resize(2);
    config.clients[0].name = "first";
    config.clients[0].tokens.emplace_back(kFirst);
    config.clients[1].name = "second";
    config.clients[1].tokens.emplace_back(kSecond);
    return config;
}

std::string array_of(std::size_t calls, const std::string& method) {
    std::string body = "[";
    for (std::size_t i = 0; i < calls; ++i) {
        body += (i == 0 ? "" : ",") + rpc(method, "[]", std::to_string(i));
    }
    return body + "]";
}

}  // namespace

TEST_CASE(
    "a client over its rate is told 429 with its own scope; others and local answers are not") {
    for (const std::size_t threads : {1U, 4U}) {
        config::Config config = team();
        config.clients[0].rate = {.calls_per_second = 0.5, .burst = 4};
        config.chains[0].rate_limits.max_wait = 0s;
        Gateway gateway(config, threads);
        for (int i = 0; i < 4; ++i) {
            CHECK(gateway.ask(rpc("eth_gasPrice"), kFirst).sink.head.status == 200);
        }
        const auto& refused = gateway.ask(rpc("eth_gasPrice", "[]", "7"), kFirst);
        CHECK(refused.sink.head.status == 429);
        CHECK((refused.sink.head.retry_after_seconds == 1 ||
               refused.sink.head.retry_after_seconds == 2));
        CHECK(id_of(refused.sink.body) == "7");
        CHECK(code_of(refused.sink.body) == "-32005");
        CHECK(refused.sink.body.find(R"("scope":"client")") != std::string::npos);
        CHECK(gateway.ask(rpc("eth_chainId"), kFirst).sink.head.status == 200);
        CHECK(gateway.ask(rpc("eth_gasPrice"), kSecond).sink.head.status == 200);
        CHECK(gateway.seen().size() == 5);
        const std::string metrics = gateway.metrics();
        const auto has = [&](const std::string& line) {
            CAPTURE(line);
            CHECK(metrics.find(line + "\n") != std::string::npos);
        };
        has(R"(weir_client_calls_total{client="first",chain="test",outcome="ok"} 5)");
        has(R"(weir_client_calls_total{client="first",chain="test",outcome="rate_limited"} 1)");
        has(R"(weir_client_calls_total{client="second",chain="test",outcome="ok"} 1)");
        const auto cost = gateway.pool().units_of(0, routing::find_method("eth_gasPrice"));
        has(R"(weir_client_units_total{client="first",chain="test"} )" + std::to_string(4 * cost));
        has(R"(weir_client_units_total{client="second",chain="test"} )" + std::to_string(cost));
        has(R"(weir_rate_limited_total{chain="test",scope="client"} 1)");
        has(R"(weir_rate_limited_total{chain="test",scope="upstream"} 0)");
    }
}

TEST_CASE("a call waits for its client's rate within max_wait") {
    config::Config config = team();
    config.clients[0].rate = {.calls_per_second = 10, .burst = 1};
    config.chains[0].rate_limits.max_wait = 350ms;
    Gateway gateway(config, 4);
    std::vector<Gateway::Exchange*> all;
    const core::TimePoint started = gateway.clock.now();
    for (int i = 0; i < 8; ++i) {
        all.push_back(&gateway.start(rpc("eth_gasPrice"), kFirst));
    }
    std::size_t served = 0;
    for (const Gateway::Exchange* each : all) {
        REQUIRE(Gateway::finish(*each));
        served += each->sink.head.status == 200 ? 1 : 0;
    }
    CHECK(served >= 4);  // now, and after 0.1, 0.2 and 0.3 s
    CHECK(served <= 5);
    CHECK(gateway.clock.now() - started >= 300ms);
    CHECK(gateway.seen().size() == served);
}

TEST_CASE("a batch: what is beyond the rate fails alone, all together with 429") {
    config::Config config = team();
    config.clients[0].rate = {.calls_per_second = 0.1, .burst = 3};
    config.chains[0].rate_limits.max_wait = 0s;
    Gateway gateway(config);
    const auto& some = gateway.ask(array_of(5, "eth_gasPrice"), kFirst);
    CHECK(some.sink.head.status == 200);
    CHECK(result_of(item(some.sink.body, 2)) == R"("ok")");
    CHECK(type_of(item(some.sink.body, 3)) == "rate_limited");
    CHECK(type_of(item(some.sink.body, 4)) == "rate_limited");
    const std::string mixed = "[" + rpc("eth_chainId") + "," + rpc("eth_gasPrice") + "]";
    const auto& none = gateway.ask(mixed, kFirst);
    CHECK(none.sink.head.status == 429);
    CHECK(none.sink.head.retry_after_seconds >= 1);
    CHECK(result_of(item(none.sink.body, 0)) == R"("0x1")");
}

TEST_CASE("a client that leaves while it waits sends nothing") {
    config::Config config = team();
    config.clients[0].rate = {.calls_per_second = 1, .burst = 1};
    Gateway gateway(config);
    gateway.ask(rpc("eth_gasPrice"), kFirst);
    auto& waiting = gateway.start(rpc("eth_gasPrice"), kFirst);
    gateway.client_leaves(waiting);
    REQUIRE(Gateway::finish(waiting));
    CHECK(gateway.seen().size() == 1);
}

TEST_CASE("methods are denied to a client, or all but some") {
    config::Config config = team();
    config.clients[0].methods.deny = {"debug_*"};
    config.clients[1].methods.allow = {"eth_*"};
    Gateway gateway(config);
    const auto outcome = [&](const char* method, const char* token) {
        const auto& exchange = gateway.ask(rpc(method), token);
        CHECK(exchange.sink.head.status == 200);
        return type_of(exchange.sink.body);
    };
    CHECK(outcome("DEBUG_traceTransaction", kFirst) == "method_denied");
    CHECK(outcome("trace_block", kFirst).empty());
    CHECK(outcome("trace_block", kSecond) == "method_denied");
    CHECK(outcome("eth_gasPrice", kSecond).empty());
    CHECK(outcome("admin_peers", kSecond) == "method_denied");
}

TEST_CASE("a filter belongs to the client that made it") {
    Gateway gateway(team());
    gateway.on(0, result(R"("0x5")"));
    const std::string id = result_of(gateway.ask(rpc("eth_newBlockFilter"), kFirst).sink.body);
    REQUIRE(id.size() == 36);
    const std::string poll = rpc("eth_getFilterChanges", "[" + id + "]");
    CHECK(type_of(gateway.ask(poll, kSecond).sink.body) == "filter_not_found");
    CHECK(type_of(gateway.ask(rpc("eth_uninstallFilter", "[" + id + "]"), kSecond).sink.body) ==
          "filter_not_found");
    CHECK(result_of(gateway.ask(poll, kFirst).sink.body) == R"("0x5")");
}

TEST_CASE("clients take turns at a limited upstream, however many calls one of them has waiting") {
    config::Config config = team();
    config.chains[0].upstreams[0].rate = {.calls_per_second = 10, .burst = 1};
    config.chains[0].rate_limits.max_wait = 2s;
    Gateway gateway(config, 2);
    gateway.ask(rpc("eth_gasPrice"), kFirst);
    std::vector<Gateway::Exchange*> noisy;
    for (int i = 0; i < 60; ++i) {
        noisy.push_back(&gateway.start(rpc("eth_gasPrice"), kFirst));
    }
    const core::TimePoint asked = gateway.clock.now();
    const auto& quiet = gateway.ask(rpc("eth_blockNumber"), kSecond);
    CHECK(quiet.sink.head.status == 200);
    CHECK(quiet.ended - asked < 600ms);  // behind one or two of the other's, of 20 that wait
    for (const Gateway::Exchange* each : noisy) {
        REQUIRE(Gateway::finish(*each));
        CHECK((each->sink.head.status == 200 || each->sink.head.status == 429));
    }
}

TEST_CASE("one client's requests leave room for others") {
    config::Config config = team();
    Gateway gateway(config);
    gateway.on(0, [](const Sent&) {
        Reaction slow = result("\"ok\"");
        slow.delay = 300ms;
        return slow;
    });
    gateway.set_room(2);  // as if the server would take two more
    auto& first = gateway.start(rpc("eth_gasPrice"), kFirst);
    auto& second = gateway.start(rpc("eth_gasPrice"), kFirst);
    const auto& third = gateway.ask(rpc("eth_gasPrice"), kFirst);
    CHECK(third.sink.head.status == 503);
    CHECK(third.sink.head.retry_after_seconds == 1);
    CHECK(type_of(third.sink.body) == "overloaded");
    CHECK(gateway.ask(rpc("eth_gasPrice"), kSecond).sink.head.status == 200);
    CHECK(Gateway::finish(first));
    CHECK(Gateway::finish(second));
    CHECK(first.sink.head.status == 200);
}
