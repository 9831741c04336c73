// Limited upstreams: who waits, who is told 429, and what the upstream sees meanwhile.
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

// Refuses one call, and then answers.
Gateway::Script limited_once(const std::string& retry_after) {
    return [retry_after, refused = false](const Sent&) mutable {
        return std::exchange(refused, true) ? result("\"ok\"") : limited(retry_after);
    };
}

std::size_t at(const Gateway& gateway, routing::UpstreamIndex upstream) {
    const auto seen = gateway.seen();
    return static_cast<std::size_t>(std::count_if(
        seen.begin(), seen.end(), [&](const auto& one) { return one.upstream == upstream; }));
}

config::Config impatient(std::size_t upstreams) {
    config::Config config = gateway_config(upstreams);
    config.chains[0].rate_limits.max_wait = 0s;
    return config;
}

}  // namespace

TEST_CASE("a limited upstream: another one at once") {
    Gateway gateway(gateway_config(2));
    gateway.on(0, limited_once("2"));
    const auto& exchange = gateway.ask(rpc("eth_gasPrice"));
    CHECK(exchange.sink.head.status == 200);
    CHECK(exchange.sink.head.attempts == 2);
    CHECK(at(gateway, 0) == 1);
    CHECK(at(gateway, 1) == 1);
    gateway.ask(rpc("eth_gasPrice"));
    CHECK(at(gateway, 0) == 1);
}

TEST_CASE("the only upstream is limited: the call waits and gets its value") {
    Gateway gateway(gateway_config(1));
    gateway.on(0, limited_once("1"));
    const core::TimePoint started = gateway.clock.now();
    const auto& exchange = gateway.ask(rpc("eth_gasPrice"));
    CHECK(exchange.sink.body == R"({"jsonrpc":"2.0","id":1,"result":"ok"})");
    CHECK(exchange.sink.head.attempts == 2);
    CHECK(exchange.ended - started >= 1s);
    CHECK(exchange.ended - started < 2s);
}

TEST_CASE("during a cool-down the upstream sees nothing; afterwards one call goes first") {
    for (const std::size_t threads : {1U, 4U}) {
        Gateway gateway(gateway_config(1), threads);
        gateway.on(0, limited_once("1"));
        std::vector<Gateway::Exchange*> exchanges{&gateway.start(rpc("eth_gasPrice"))};
        REQUIRE(wait_until([&] { return at(gateway, 0) == 1; }));
        const core::TimePoint refused = gateway.clock.now();
        for (int i = 0; i < 12; ++i) {
            exchanges.push_back(&gateway.start(rpc("eth_gasPrice")));
            std::this_thread::sleep_for(3ms);  // how the clients come, not what is waited for
        }
        for (const Gateway::Exchange* exchange : exchanges) {
            REQUIRE(Gateway::finish(*exchange));
            CHECK(exchange->sink.head.status == 200);
        }
        const auto seen = gateway.seen();
        REQUIRE(seen.size() == 14);
        CHECK(seen[1].at - refused >= 950ms);
        CHECK(gateway.pool().status(gateway.clock.now())[0].in_flight == 0);
    }
}

TEST_CASE("a cool-down longer than the patience: 429 at once, true and bounded") {
    struct Case {
        std::string retry_after;
        core::Duration max_wait;
        unsigned told;
    };
    const Case cases[] = {{"2", 0s, 2}, {"5", 3s, 5}, {"300", 3s, 30}, {"1", 500ms, 1}};
    for (const Case& c : cases) {
        config::Config config = gateway_config(1);
        config.chains[0].rate_limits.max_wait = c.max_wait;
        Gateway gateway(config);
        gateway.on(0, [&](const Sent&) { return limited(c.retry_after); });
        for (int i = 0; i < 12; ++i) {
            const core::TimePoint started = gateway.clock.now();
            const auto& exchange = gateway.ask(rpc("eth_gasPrice"));
            CHECK(exchange.ended - started < 400ms);
            CHECK(exchange.sink.head.status == 429);
            CHECK(exchange.sink.head.retry_after_seconds == c.told);
            CHECK(type_of(exchange.sink.body) == "rate_limited");
            CHECK(code_of(exchange.sink.body) == "-32005");
            CHECK(
                exchange.sink.body.find("every upstream of chain test is rate limited; retry in " +
                                        std::to_string(c.told) + " s") != std::string::npos);
            CHECK(exchange.sink.body.find(R"("status":429,"scope":"upstream","retryAfterMs":)") !=
                  std::string::npos);
        }
        CHECK(at(gateway, 0) == 1);
        CHECK(gateway.metrics().find(
                  R"(weir_rate_limited_total{chain="test",scope="upstream"} 12)") !=
              std::string::npos);
    }
}

TEST_CASE("waits that cannot be used become the default cool-down; all are bounded") {
    struct Case {
        std::string retry_after;
        std::string date;
        double seconds;  // the cool-down
    };
    const std::string date = "Sun, 06 Nov 1994 08:49:37 GMT";
    const Case cases[] = {
        {"3", "", 3},
        {"0", "", 1},
        {"-5", "", 1},
        {"2.5", "", 1},
        {"garbage", "", 1},
        {"", "", 1},
        {"Sun, 06 Nov 1994 08:49:42 GMT", date, 5},  // their clock is off by decades
        {"Sun, 06 Nov 1994 08:49:30 GMT", date, 1},  // past
        {"Fri, 31 Dec 2038 23:59:59 GMT", "", 1},    // against no date
    };
    for (const Case& c : cases) {
        CAPTURE(c.retry_after);
        Gateway gateway(impatient(1));
        gateway.on(0, [&](const Sent&) {
            Reaction reaction = limited(c.retry_after);
            reaction.date = c.date;
            return reaction;
        });
        const auto& exchange = gateway.ask(rpc("eth_gasPrice"));
        CHECK(exchange.sink.head.status == 429);
        const double cooldown =
            std::chrono::duration<double>(gateway.pool().status(exchange.ended)[0].cooldown)
                .count();
        CHECK(cooldown <= c.seconds);
        CHECK(cooldown > c.seconds - 0.5);
    }
}

TEST_CASE("a configured rate holds for all threads together, first come first served") {
    for (const std::size_t threads : {1U, 4U}) {
        config::Config config = gateway_config(1);
        config.chains[0].upstreams[0].rate = {.calls_per_second = 40, .burst = 4};
        Gateway gateway(config, threads);
        const core::TimePoint started = gateway.clock.now();
        std::vector<Gateway::Exchange*> exchanges;
        for (int i = 0; i < 44; ++i) {
            exchanges.push_back(&gateway.start(rpc("eth_gasPrice", "[" + std::to_string(i) + "]")));
        }
        for (const Gateway::Exchange* exchange : exchanges) {
            REQUIRE(Gateway::finish(*exchange));
            CHECK(exchange->sink.head.status == 200);
            CHECK(exchange->sink.head.attempts == 1);
        }
        const auto seen = gateway.seen();
        REQUIRE(seen.size() == 44);
        for (std::size_t i = 4; i < seen.size(); ++i) {
            CHECK(seen[i].at - started >= (i - 4) * 25ms);
            if (threads == 1) {
                CHECK(seen[i].body.find("[" + std::to_string(i) + "]") != std::string::npos);
            }
        }
    }
}

TEST_CASE("who cannot be served in time is told so at once, and does not queue") {
    config::Config config = gateway_config(1);
    config.chains[0].upstreams[0].rate = {.calls_per_second = 10, .burst = 1};
    config.chains[0].rate_limits.max_wait = 1s;
    Gateway gateway(config);
    std::vector<Gateway::Exchange*> exchanges;
    for (int i = 0; i < 40; ++i) {
        exchanges.push_back(&gateway.start(rpc("eth_gasPrice")));
    }
    std::size_t served = 0;
    for (const Gateway::Exchange* exchange : exchanges) {
        REQUIRE(Gateway::finish(*exchange));
        if (exchange->sink.head.status == 200) {
            ++served;
        } else {
            CHECK(exchange->sink.head.status == 429);
            CHECK(exchange->sink.head.attempts == 0);
            CHECK(exchange->sink.head.retry_after_seconds >= 1);
            CHECK(exchange->sink.head.retry_after_seconds <= 2);
        }
    }
    CHECK(served >= 10);
    CHECK(served <= 12);
    CHECK(at(gateway, 0) == served);
}

TEST_CASE("many clients and upstreams that only refuse: all are told the near time that is true") {
    Gateway gateway(gateway_config(2), 2);
    for (const std::size_t upstream : {0U, 1U}) {
        gateway.on(upstream, limited("1"));
    }
    std::vector<Gateway::Exchange*> exchanges;
    for (int i = 0; i < 300; ++i) {
        exchanges.push_back(&gateway.start(rpc("eth_gasPrice", "[" + std::to_string(i) + "]")));
    }
    unsigned longest = 0;
    for (const Gateway::Exchange* exchange : exchanges) {
        REQUIRE(Gateway::finish(*exchange));
        CHECK(exchange->sink.head.status == 429);
        longest = std::max(longest, exchange->sink.head.retry_after_seconds);
    }
    // The cool-down's second, or as long as those wait who came first.
    CHECK(longest <= 4);
}

TEST_CASE("a client that is gone leaves the queue and takes its reads along, but no write") {
    Gateway gateway(gateway_config(1));
    SECTION("waiting for a turn") {
        gateway.on(0, limited_once("1"));
        auto& waiting = gateway.start(rpc("eth_gasPrice"));
        REQUIRE(wait_until([&] { return at(gateway, 0) == 1; }));
        auto& other = gateway.start(rpc("eth_gasPrice"));
        gateway.client_leaves(waiting);
        REQUIRE(Gateway::finish(waiting));
        CHECK(waiting.ended - gateway.seen()[0].at < 900ms);
        REQUIRE(Gateway::finish(other));
        CHECK(other.sink.head.status == 200);
        CHECK(at(gateway, 0) == 2);
    }
    SECTION("a read, a batch of reads") {
        gateway.on(0, [](const Sent&) {
            Reaction reaction;
            reaction.hangs = true;
            return reaction;
        });
        const std::string body = GENERATE(as<std::string>(), rpc("eth_gasPrice"),
                                          "[" + rpc("eth_gasPrice") + "," + rpc("eth_call") + "]");
        auto& reading = gateway.start(body);
        REQUIRE(wait_until([&] { return at(gateway, 0) > 0; }));
        gateway.client_leaves(reading);
        REQUIRE(Gateway::finish(reading));
        const auto status = gateway.pool().status(gateway.clock.now())[0];
        CHECK(status.in_flight == 0);
        CHECK(status.state == routing::UpstreamState::fit);
        CHECK(gateway.metrics().find("cause=\"connection_lost\"} 1") == std::string::npos);
    }
    SECTION("a write") {
        gateway.on(0, [](const Sent&) {
            Reaction reaction = result("\"0x1\"");
            reaction.delay = 200ms;
            return reaction;
        });
        auto& writing = gateway.start(rpc("eth_sendTransaction", "[{}]"));
        REQUIRE(wait_until([&] { return at(gateway, 0) == 1; }));
        gateway.client_leaves(writing);
        REQUIRE(Gateway::finish(writing));
        CHECK(writing.sink.body.find("\"0x1\"") != std::string::npos);
    }
}

TEST_CASE("a write waits before it is sent, and is not sent again after a refusal") {
    Gateway gateway(gateway_config(1));
    gateway.on(0, limited_once("1"));
    const auto& refused = gateway.ask(rpc("eth_sendTransaction", "[{}]"));
    CHECK(refused.sink.head.status == 429);
    CHECK(refused.sink.head.retry_after_seconds == 1);
    CHECK(at(gateway, 0) == 1);
    const auto& waited = gateway.ask(rpc("eth_sendTransaction", "[{}]"));
    CHECK(waited.sink.head.status == 200);
    CHECK(at(gateway, 0) == 2);
}

TEST_CASE("batches: limited items carry the error; 429 when all that needed an upstream do") {
    Gateway gateway(impatient(1));
    gateway.on(0, [](const Sent& message) {
        return message.body.find("eth_call") != std::string::npos
                   ? rpc_error(-32005, "rate limit exceeded, retry in 2s")
                   : result("\"ok\"");
    });
    const std::string local = rpc("eth_chainId", "[]", "7");
    SECTION("partly") {
        gateway.ask(rpc("eth_gasPrice"));
        const auto& exchange =
            gateway.ask("[" + rpc("eth_gasPrice") + "," + rpc("eth_call") + "," + local + "]");
        CHECK(exchange.sink.head.status == 200);
        CHECK(exchange.sink.head.retry_after_seconds == 0);
        CHECK(result_of(item(exchange.sink.body, 0)) == "\"ok\"");
        CHECK(type_of(item(exchange.sink.body, 1)) == "rate_limited");
        CHECK(result_of(item(exchange.sink.body, 2)) == "\"0x1\"");
    }
    SECTION("wholly") {
        const auto& exchange = gateway.ask("[" + local + "," + rpc("eth_call") + "]");
        CHECK(exchange.sink.head.status == 429);
        CHECK(exchange.sink.head.retry_after_seconds == 2);
        CHECK(result_of(item(exchange.sink.body, 0)) == "\"0x1\"");
        CHECK(type_of(item(exchange.sink.body, 1)) == "rate_limited");
    }
}

TEST_CASE("a spent allowance is a quota, not a rate limit, and ends with the day") {
    config::Config config = gateway_config(1);
    config.chains[0].upstreams[0].rate.units_per_day =
        2 * routing::find_method("eth_gasPrice").cost;
    Gateway gateway(config);
    const core::WallTime noon{std::chrono::hours(24 * 20000 + 12)};
    gateway.pool().observe_wall_clock(noon, gateway.clock.now());
    CHECK(gateway.ask(rpc("eth_gasPrice")).sink.head.status == 200);
    CHECK(gateway.ask(rpc("eth_gasPrice")).sink.head.status == 200);
    const auto& spent = gateway.ask(rpc("eth_gasPrice"));
    CHECK(spent.sink.head.status == 402);
    CHECK(type_of(spent.sink.body) == "quota_exhausted");
    const auto status = gateway.pool().status(spent.ended)[0];
    CHECK(status.state == routing::UpstreamState::quota_spent);
    CHECK(status.units_today == config.chains[0].upstreams[0].rate.units_per_day);
    CHECK(status.cooldown > 11h);
    gateway.pool().observe_wall_clock(noon + 12h, gateway.clock.now());
    gateway.pool().tick(gateway.clock.now());
    CHECK(gateway.ask(rpc("eth_gasPrice")).sink.head.status == 200);
}

TEST_CASE("a plan that its provider calls spent rests until 00:00 UTC, or for the time it names") {
    struct Case {
        const char* retry_after;
        core::Duration rest;
    };
    for (const Case& c : {Case{"", 12h}, Case{"7200", 2h}, Case{"99999999999", 12h}}) {
        Gateway gateway(gateway_config(1));
        const core::WallTime noon{std::chrono::hours(24 * 20000 + 12)};
        gateway.pool().observe_wall_clock(noon, gateway.clock.now());
        gateway.on(0, [&c](const Sent&) {
            Reaction reaction = rpc_error(-32005, "daily request count exceeded");
            reaction.retry_after = c.retry_after;
            return reaction;
        });
        const auto& spent = gateway.ask(rpc("eth_gasPrice"));
        CHECK(spent.sink.head.status == 402);
        const auto status = gateway.pool().status(spent.ended)[0];
        CHECK(status.state == routing::UpstreamState::quota_spent);
        CHECK(status.cooldown > c.rest - 1min);
        CHECK(status.cooldown <= c.rest + 1s);
    }
}

TEST_CASE("who waits for a place meanwhile is told that the plan is spent, not that it is busy") {
    config::Config config = gateway_config(1);
    config.chains[0].upstreams[0].max_in_flight = 1;
    Gateway gateway(config);
    gateway.on(0, [](const Sent&) {
        Reaction spent = rpc_error(-32005, "daily request count exceeded");
        spent.delay = 100ms;
        return spent;
    });
    const auto& first = gateway.start(rpc("eth_gasPrice"));
    const auto& second = gateway.start(rpc("eth_gasPrice"));
    for (const auto* exchange : {&first, &second}) {
        REQUIRE(Gateway::finish(*exchange));
        CHECK(exchange->sink.head.status == 402);
        CHECK(type_of(exchange->sink.body) == "quota_exhausted");
    }
    CHECK(at(gateway, 0) == 1);
}

TEST_CASE("a cool-down is not moved by the wall clock, wherever that jumps") {
    const core::WallTime noon{std::chrono::hours(24 * 20000 + 12)};
    for (const auto jump : {core::WallTime::duration(-1000h), core::WallTime::duration(1000h)}) {
        for (const char* message : {"rate limit exceeded", "daily request count exceeded"}) {
            Gateway gateway(gateway_config(1));
            gateway.pool().observe_wall_clock(noon, gateway.clock.now());
            gateway.on(0, [message](const Sent&) {
                Reaction reaction = rpc_error(-32005, message);
                reaction.retry_after = "120";
                return reaction;
            });
            const core::TimePoint at = gateway.ask(rpc("eth_gasPrice")).ended;
            const core::Duration before = gateway.pool().status(at)[0].cooldown;
            CHECK(before > 118s);
            gateway.pool().observe_wall_clock(noon + jump, at);
            gateway.pool().tick(at);
            CHECK(gateway.pool().status(at)[0].cooldown == before);
            CHECK(gateway.pool().status(at + 121s)[0].cooldown == core::Duration::zero());
        }
    }
}
