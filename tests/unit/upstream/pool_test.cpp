#include "upstream/pool.hpp"

#include "config/providers.hpp"
#include "routing/provider_book.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using routing::Blame;
using routing::Cause;
using routing::ChainState;
using routing::Disposition;
using routing::UpstreamState;
using routing::Verdict;

namespace {

constexpr std::uint64_t kChainId = 31337;

config::Chain chain_of(std::size_t upstreams) {
    config::Chain chain;
    chain.name = "test";
    chain.chain_id = kChainId;
    chain.circuit.failures = 3;
    for (std::size_t i = 0; i < upstreams; ++i) {
        config::Upstream upstream;
        upstream.name = "u" + std::to_string(i);
        chain.upstreams.push_back(upstream);
    }
    return chain;
}

// A pool with explicit time; its upstreams are identified and at one head from the start.
struct Fixture {
    explicit Fixture(std::size_t upstreams) : Fixture(chain_of(upstreams)) {}
    explicit Fixture(const config::Chain& chain) : pool(chain, now) {
        for (std::size_t i = 0; i < chain.upstreams.size(); ++i) {
            revive(i);
        }
    }

    void revive(std::size_t upstream, std::uint64_t number = 100) {
        pool.observe_chain_id(upstream, kChainId, now);
        head(upstream, number);
    }

    void head(std::size_t upstream, std::uint64_t number) {
        chain::Observation observation;
        observation.latest = {number, "0x" + std::to_string(number)};
        observation.at = now;
        pool.observe_head(upstream, observation);
    }

    void report(std::size_t upstream, Cause cause, std::uint64_t call = 0,
                const char* method = "eth_call", core::Duration latency = 10ms,
                std::optional<core::Duration> wait = {}) {
        AttemptReport report;
        report.upstream = upstream;
        report.method = method;
        report.traits = &routing::find_method(method);
        report.verdict.cause = cause;
        report.verdict.retry_after = wait;
        switch (cause) {
            case Cause::timeout:
            case Cause::connect_failed:
            case Cause::connection_lost:
            case Cause::bad_reply:
            case Cause::server_error:
            case Cause::auth_failed:
                report.verdict.blame = Blame::upstream;
                break;
            default:
                break;
        }
        report.latency = latency;
        report.call_hash = call != 0 ? call : ++calls;
        report.at = now;
        pool.report(report);
    }

    UpstreamState state(std::size_t upstream) {
        return pool.snapshots().get()->upstreams[upstream].state;
    }
    const routing::UpstreamView view(std::size_t upstream) {
        return pool.snapshots().get()->upstreams[upstream];
    }
    ChainState chain_state() { return pool.snapshots().get()->state; }

    core::TimePoint now{1h};
    std::uint64_t calls = 1000;
    Pool pool;
};

// Stands in the queue, and holds its place in flight when its turn has come.
struct Waiting final : Waiter {
    using Waiter::Waiter;
    void on_turn(routing::UpstreamIndex, Permit permit) override { held = std::move(permit); }
    void on_first(core::TimePoint) override {}
    std::optional<Permit> held;
};

// Asked for a call that costs what most do.
std::optional<Permit> acquire(Pool& pool, std::size_t upstream, core::TimePoint now) {
    return pool.admit(upstream, routing::find_method("eth_call"), now).permit;
}

}  // namespace

TEST_CASE("who is told to come back is told when an upstream takes calls and the queue is gone") {
    config::Chain chain = chain_of(2);
    chain.upstreams[0].rate = chain.upstreams[1].rate = {.calls_per_second = 10, .burst = 1};
    Fixture f(chain);
    const routing::MethodTraits& traits = routing::find_method("eth_call");
    const Turn any{.among = routing::Tried().set(0).set(1), .traits = &traits};
    for (const std::size_t upstream : {0U, 1U}) {
        f.report(upstream, Cause::rate_limited, 0, "eth_call", 10ms, 1s);
    }
    const core::TimePoint rested = f.pool.rests_until(0);
    CHECK(rested - f.now > 900ms);
    const Outlook empty = f.pool.outlook(any, f.now);
    CHECK(empty.obstacle == Obstacle::limit);
    CHECK(empty.ready_at == rested);
    CHECK(empty.capacity_at == rested);

    // Two upstreams serve those that may wait for either, twenty a second in all.
    std::vector<std::shared_ptr<Waiting>> waiting;
    const core::TimePoint until = f.now + 3s;
    std::size_t joined = 0;
    for (int i = 0; i < 300; ++i) {
        waiting.push_back(std::make_shared<Waiting>(any));
        joined += f.pool.join(waiting.back(), until, f.now) == Pool::Joined::yes ? 1U : 0U;
    }
    CHECK(joined >= 38);
    CHECK(joined <= 44);
    const Outlook behind = f.pool.outlook(any, f.now);
    CHECK(behind.ready_at >= until - 100ms);
    CHECK(behind.capacity_at <= until);

    // They leave at `until` at the latest, however long their turns would take.
    f.pool.run_queue(rested);
    for (const std::size_t upstream : {0U, 1U}) {
        f.now = rested;
        f.report(upstream, Cause::rate_limited, 0, "eth_call", 10ms, 1s);
    }
    const Outlook later = f.pool.outlook(any, f.now);
    CHECK(later.ready_at > until);
    CHECK(later.capacity_at == until);
    for (const auto& each : waiting) {
        f.pool.leave(*each, f.now);
    }
    // The one call that its rate lets go then, a tenth of a second apart from the last.
    CHECK(f.pool.outlook(any, f.now).capacity_at >= f.pool.rests_until(0));
    CHECK(f.pool.outlook(any, f.now).capacity_at <= f.pool.rests_until(0) + 101ms);
}

TEST_CASE("a place in flight is waited for as such, also behind others; a limit comes before it") {
    config::Chain chain = chain_of(2);
    chain.upstreams[0].max_in_flight = 1;
    Fixture f(chain);
    const routing::MethodTraits& traits = routing::find_method("eth_call");
    const Turn first{.among = routing::Tried().set(0), .traits = &traits};
    const Turn any{.among = routing::Tried().set(0).set(1), .traits = &traits};
    CHECK(f.pool.outlook(first, f.now).obstacle == Obstacle::none);
    auto held = acquire(f.pool, 0, f.now);
    CHECK(f.pool.outlook(first, f.now).obstacle == Obstacle::capacity);
    const auto waiting = std::make_shared<Waiting>(first);
    REQUIRE(f.pool.join(waiting, f.now + 3s, f.now) == Pool::Joined::yes);
    CHECK(waiting->obstacle == Obstacle::capacity);
    CHECK(f.pool.outlook(first, f.now).obstacle == Obstacle::capacity);
    held.reset();
    CHECK(f.pool.outlook(first, f.now).obstacle == Obstacle::capacity);
    f.report(1, Cause::rate_limited, 0, "eth_call", 10ms, 1s);
    CHECK(f.pool.outlook(any, f.now).obstacle == Obstacle::limit);
    f.pool.leave(*waiting, f.now);
}

TEST_CASE("methods that the table does not know cost what the profile's patterns say") {
    const routing::ProviderBook providers(config::built_in_providers());
    config::Chain chain = chain_of(1);
    chain.upstreams[0].provider = "infura";
    chain.upstreams[0].rate.units_per_second = 1000;
    const core::TimePoint now{1h};
    Pool pool(chain, now, providers);
    pool.observe_chain_id(0, kChainId, now);
    const routing::MethodTraits& unknown = routing::find_method("debug_newThing");
    REQUIRE_FALSE(unknown.known());
    CHECK(pool.units_of(0, {unknown, "debug_newThing"}) == 1000);
    CHECK(pool.units_of(0, {routing::configured_read(), "trace_newThing"}) == 300);
    CHECK(pool.units_of(0, {unknown, "linea_newThing"}) == 80);
    CHECK(pool.units_of(0, routing::find_method("eth_call")) == 80);
    CHECK(pool.admit(0, {unknown, "debug_newThing"}, now).permit.has_value());
    CHECK(pool.admit(0, routing::find_method("eth_call"), now).obstacle == Obstacle::limit);
}

TEST_CASE("a lone upstream that shows no head serves, and its reason says so") {
    const core::TimePoint now{1h};
    Pool pool(chain_of(1), now);
    pool.observe_chain_id(0, kChainId, now);
    const Verdict bad = {Disposition::try_another, Blame::upstream, Cause::bad_reply, {}};
    pool.observe_failure(0, bad, now);
    CHECK(pool.status(now)[0].state == UpstreamState::fit);
    CHECK(pool.status(now)[0].reason.find("head is not known") != std::string::npos);
    CHECK(pool.status(now)[0].reason.find("bad_reply") != std::string::npos);
    CHECK(acquire(pool, 0, now).has_value());
    chain::Observation observation;
    observation.latest = {100, "0xaa"};
    observation.at = now;
    pool.observe_head(0, observation);
    CHECK(pool.status(now)[0].reason.find("head is not known") == std::string::npos);
}

TEST_CASE("an upstream serves once its chain id and its head are known") {
    const core::TimePoint now{1h};
    Pool pool(chain_of(2), now);
    const auto state = [&pool](std::size_t i) {
        return pool.snapshots().get()->upstreams[i].state;
    };
    CHECK(state(0) == UpstreamState::unknown);
    CHECK(pool.snapshots().get()->state == ChainState::down);
    CHECK_FALSE(pool.has_been_fit());
    CHECK_FALSE(pool.is_fit_now());
    CHECK_FALSE(acquire(pool, 0, now).has_value());

    pool.observe_chain_id(0, kChainId, now);
    CHECK(state(0) == UpstreamState::unknown);
    chain::Observation observation;
    observation.latest = {7, "0x7"};
    observation.at = now;
    pool.observe_head(0, observation);
    CHECK(state(0) == UpstreamState::fit);
    CHECK(state(1) == UpstreamState::unknown);
    CHECK(pool.snapshots().get()->head->number == 7);
    CHECK(pool.snapshots().get()->state == ChainState::ok);
    CHECK(pool.has_been_fit());
    CHECK(acquire(pool, 0, now).has_value());

    Pool single(chain_of(1), now);
    single.observe_chain_id(0, kChainId, now);
    CHECK(single.snapshots().get()->upstreams[0].state == UpstreamState::fit);
}

TEST_CASE("a wrong chain is out at once and back after three good checks") {
    Fixture f(2);
    f.pool.observe_chain_id(0, 1, f.now);
    CHECK(f.state(0) == UpstreamState::wrong_chain);
    CHECK(f.view(0).reason == "says chain id 1, not 31337");
    CHECK_FALSE(acquire(f.pool, 0, f.now).has_value());
    f.pool.observe_chain_id(0, kChainId, f.now);
    f.pool.observe_chain_id(0, kChainId, f.now);
    CHECK(f.state(0) == UpstreamState::wrong_chain);
    f.pool.observe_chain_id(0, kChainId, f.now);
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(f.view(0).trickle);
}

TEST_CASE("permits count what is in flight") {
    config::Chain chain = chain_of(1);
    chain.upstreams[0].max_in_flight = 2;
    Fixture f(chain);
    {
        auto first = acquire(f.pool, 0, f.now);
        const auto second = acquire(f.pool, 0, f.now);
        CHECK(second.has_value());
        CHECK_FALSE(acquire(f.pool, 0, f.now).has_value());
        CHECK(f.pool.status(f.now)[0].in_flight == 2);
        const Permit moved = std::move(*first);
        CHECK(f.pool.status(f.now)[0].in_flight == 2);
    }
    CHECK(f.pool.status(f.now)[0].in_flight == 0);
    CHECK(acquire(f.pool, 0, f.now).has_value());
}

TEST_CASE("a rate limit pauses an upstream and does not make it ill") {
    Fixture f(2);
    f.now += 20s;  // no longer new
    for (int i = 0; i < 20; ++i) {
        f.report(0, Cause::rate_limited, 0, "eth_call", 1ms, core::Duration(3s));
    }
    CHECK(f.state(0) == UpstreamState::cooling_down);
    CHECK(f.view(0).available_at == f.now + 3s);
    CHECK_FALSE(acquire(f.pool, 0, f.now + 2999ms).has_value());
    CHECK(f.pool.rests_until(0) == f.now + 3s);
    CHECK(f.pool.tick(f.now) <= f.now + 3s);
    CHECK(f.pool.status(f.now)[0].cooldown == core::Duration(3s));
    f.now += 3s;
    f.pool.tick(f.now);
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK_FALSE(f.view(0).trickle);
    CHECK(acquire(f.pool, 0, f.now).has_value());

    f.report(0, Cause::rate_limited);
    CHECK(f.view(0).available_at == f.now + 1s);
}

TEST_CASE("a spent plan rests long") {
    Fixture f(1);
    f.report(0, Cause::quota_exhausted);
    CHECK(f.state(0) == UpstreamState::quota_spent);
    CHECK(f.chain_state() == ChainState::down);
    f.now += 10min;
    f.pool.tick(f.now);
    CHECK(f.state(0) == UpstreamState::fit);
}

TEST_CASE("failures with different calls open the circuit; it half-opens for one call at a time") {
    Fixture f(2);
    for (int i = 0; i < 3; ++i) {
        f.report(0, Cause::server_error);
    }
    CHECK(f.state(0) == UpstreamState::circuit_open);
    CHECK(f.chain_state() == ChainState::ok);
    f.now += 10s;
    f.pool.tick(f.now);
    CHECK(f.state(0) == UpstreamState::unknown);  // another process may answer by now
    CHECK_FALSE(acquire(f.pool, 0, f.now).has_value());
    f.pool.observe_chain_id(0, kChainId, f.now);
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(f.view(0).trickle);
    {
        const auto trial = acquire(f.pool, 0, f.now);
        CHECK(trial.has_value());
        CHECK_FALSE(acquire(f.pool, 0, f.now).has_value());
    }
    f.report(0, Cause::server_error);
    CHECK(f.state(0) == UpstreamState::circuit_open);
    f.now += 20s;
    f.pool.tick(f.now);
    f.pool.observe_chain_id(0, kChainId, f.now);
    f.report(0, Cause::answered);
    CHECK(f.state(0) == UpstreamState::fit);
    const auto first = acquire(f.pool, 0, f.now);
    CHECK(acquire(f.pool, 0, f.now).has_value());
}

TEST_CASE("an only upstream on trial takes every call") {
    Fixture f(1);
    for (int i = 0; i < 3; ++i) {
        f.report(0, Cause::server_error);
    }
    CHECK(f.state(0) == UpstreamState::circuit_open);
    CHECK(f.chain_state() == ChainState::degraded);
    const auto least_bad = acquire(f.pool, 0, f.now);
    CHECK(least_bad.has_value());
    CHECK(acquire(f.pool, 0, f.now).has_value());
    f.now += 10s;
    f.pool.tick(f.now);
    CHECK(acquire(f.pool, 0, f.now).has_value());
}

TEST_CASE("a trial of who answers nothing is not called fit, though it may take a call") {
    Fixture f(1);
    const auto shown = [&f] { return f.pool.status(f.now).front(); };
    for (int i = 0; i < 3; ++i) {
        f.pool.observe_failure(0, {.blame = Blame::upstream, .cause = Cause::connection_lost},
                               f.now);
    }
    CHECK(f.chain_state() == ChainState::degraded);
    f.now += 10s;
    f.pool.tick(f.now);
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(f.view(0).in_doubt);
    CHECK(shown().state == UpstreamState::circuit_open);
    CHECK(shown().reason == "on trial after failures (last: connection_lost)");
    CHECK(f.chain_state() == ChainState::degraded);
    CHECK(acquire(f.pool, 0, f.now).has_value());
    f.head(0, 101);
    f.pool.tick(f.now);
    CHECK(shown().state == UpstreamState::fit);
    CHECK(f.chain_state() == ChainState::ok);
}

TEST_CASE("one client's call that fails everywhere harms nobody") {
    Fixture f(2);
    for (std::uint64_t call = 1; call < 50; ++call) {
        f.report(0, Cause::timeout, call);
        f.report(1, Cause::timeout, call);
    }
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(f.state(1) == UpstreamState::fit);

    Fixture same(1);
    for (int i = 0; i < 50; ++i) {
        same.report(0, Cause::timeout, 7);
    }
    CHECK(same.state(0) == UpstreamState::fit);
}

TEST_CASE("client errors and reverts count against nobody") {
    Fixture f(1);
    for (int i = 0; i < 50; ++i) {
        f.report(0, Cause::reverted);
        f.report(0, Cause::invalid_params);
        f.report(0, Cause::unknown);
        f.report(0, Cause::block_unknown);
    }
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(*f.pool.status(f.now)[0].success_rate == Approx(1.0));
}

TEST_CASE("slow calls that time out open the circuit for slow calls only") {
    Fixture f(2);
    for (int i = 0; i < 3; ++i) {
        f.report(0, Cause::timeout, 0, "eth_getLogs", 3s);
    }
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(f.view(0).slow_circuit_open);
    f.now += 10s;
    f.pool.tick(f.now);
    CHECK_FALSE(f.view(0).slow_circuit_open);
}

TEST_CASE("after a failed connection an upstream is asked again who it is") {
    Fixture f(2);
    std::vector<std::optional<routing::UpstreamIndex>> wakes;
    f.pool.on_wake([&wakes](std::optional<routing::UpstreamIndex> i) { wakes.push_back(i); });
    f.report(0, Cause::connect_failed);
    CHECK(f.state(0) == UpstreamState::unknown);
    CHECK_FALSE(f.pool.is_identified(0));
    CHECK_FALSE(acquire(f.pool, 0, f.now).has_value());
    REQUIRE(wakes.size() == 1);
    CHECK(wakes[0] == routing::UpstreamIndex{0});
    f.revive(0);
    CHECK(f.state(0) == UpstreamState::fit);

    f.pool.on_wake({});
    f.report(0, Cause::connect_failed);
    CHECK(wakes.size() == 1);
}

TEST_CASE("after a broken connection calls wait until the upstream has told its chain") {
    Fixture f(1);
    std::vector<std::optional<routing::UpstreamIndex>> wakes;
    f.pool.on_wake([&wakes](std::optional<routing::UpstreamIndex> i) { wakes.push_back(i); });
    const CallKind call{routing::find_method("eth_call"), "eth_call"};
    std::optional<Permit> lost = acquire(f.pool, 0, f.now);
    f.report(0, Cause::connection_lost);
    REQUIRE(wakes.size() == 1);
    CHECK(wakes[0] == routing::UpstreamIndex{0});
    CHECK_FALSE(f.pool.is_identified(0));
    CHECK(f.pool.admit(0, call, f.now).obstacle == Obstacle::capacity);
    const Turn turn{.among = routing::Tried().set(0), .traits = &call.traits};
    const auto waiting = std::make_shared<Waiting>(turn);
    REQUIRE(f.pool.join(waiting, f.now + 1s, f.now) == Pool::Joined::yes);
    lost.reset();  // a free place is not enough
    f.pool.run_queue(f.now);
    CHECK_FALSE(waiting->held.has_value());
    f.head(0, 101);  // asked before
    CHECK_FALSE(waiting->held.has_value());

    SECTION("its own chain: it goes on as before") {
        f.pool.observe_chain_id(0, kChainId, f.now);
        CHECK(waiting->held.has_value());
        CHECK(f.state(0) == UpstreamState::fit);
    }
    SECTION("no answer: it goes on") {
        const Verdict late = {Disposition::try_another, Blame::upstream, Cause::timeout, {}};
        f.pool.observe_chain_id_failure(0, late, f.now);
        CHECK(waiting->held.has_value());
        CHECK(f.state(0) == UpstreamState::fit);
    }
    SECTION("no connection: all trust is gone") {
        const Verdict none = {Disposition::try_another, Blame::upstream, Cause::connect_failed, {}};
        f.pool.observe_chain_id_failure(0, none, f.now);
        CHECK_FALSE(waiting->held.has_value());
        CHECK(f.state(0) == UpstreamState::unknown);
    }
    SECTION("another chain") {
        f.pool.observe_chain_id(0, 5, f.now);
        CHECK_FALSE(waiting->held.has_value());
        CHECK(f.state(0) == UpstreamState::wrong_chain);
    }
    f.pool.on_wake({});
}

TEST_CASE("an operator ends the rest of a spent plan") {
    Fixture f(2);
    f.report(0, Cause::quota_exhausted);
    REQUIRE(f.state(0) == UpstreamState::quota_spent);
    std::vector<std::optional<routing::UpstreamIndex>> wakes;
    f.pool.on_wake([&wakes](std::optional<routing::UpstreamIndex> i) { wakes.push_back(i); });
    f.pool.resume(0, f.now);
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(acquire(f.pool, 0, f.now).has_value());
    REQUIRE(wakes.size() == 1);
    f.report(0, Cause::quota_exhausted);  // it was not raised
    CHECK(f.state(0) == UpstreamState::quota_spent);
    f.pool.on_wake({});
}

TEST_CASE("probes that fail open the circuit, and a good one lets the upstream back") {
    Fixture f(2);
    const Verdict refused = {Disposition::try_another, Blame::upstream, Cause::connect_failed, {}};
    for (int i = 0; i < 3; ++i) {
        f.pool.observe_failure(0, refused, f.now);
    }
    CHECK(f.state(0) == UpstreamState::circuit_open);
    CHECK_FALSE(f.view(0).identified);
    CHECK_FALSE(acquire(f.pool, 0, f.now).has_value());
    f.now += 1s;
    f.revive(0);
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(f.view(0).trickle);
}

TEST_CASE("whoever answers late is asked for its chain, and serves meanwhile") {
    Fixture f(2);
    std::vector<std::optional<routing::UpstreamIndex>> wakes;
    f.pool.on_wake([&wakes](std::optional<routing::UpstreamIndex> i) { wakes.push_back(i); });
    f.report(0, Cause::timeout);
    CHECK(wakes.size() == 1);
    // The same call elsewhere: nobody's fault, and still a reason to ask.
    f.report(1, Cause::timeout, 7);
    f.report(0, Cause::timeout, 7);
    CHECK(wakes.size() == 3);
    CHECK(f.state(0) == UpstreamState::fit);
    f.pool.on_wake({});
}

TEST_CASE("an idle connection that ended is no good answer") {
    Fixture f(2);
    for (std::uint64_t call = 1; call < 3; ++call) {
        f.report(0, Cause::server_error, call);
    }
    AttemptReport ended;
    ended.upstream = 0;
    ended.method = "eth_call";
    ended.traits = &routing::find_method("eth_call");
    ended.verdict = {.disposition = routing::Disposition::try_another,
                     .blame = routing::Blame::nobody,
                     .cause = Cause::connection_lost,
                     .retry_after = std::nullopt};
    ended.at = f.now;
    f.pool.report(ended);
    f.report(0, Cause::server_error, 3);
    CHECK(f.state(0) == UpstreamState::circuit_open);
}

TEST_CASE("credentials: one refusal is a doubt, two different calls or a probe are proof") {
    Fixture f(2);
    int wakes = 0;
    f.pool.on_wake([&wakes](std::optional<routing::UpstreamIndex>) { ++wakes; });
    f.report(0, Cause::auth_failed, 1);
    f.report(0, Cause::auth_failed, 1);
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(wakes == 1);
    f.report(0, Cause::answered);
    f.report(0, Cause::auth_failed, 2);
    CHECK(f.state(0) == UpstreamState::fit);
    f.report(0, Cause::auth_failed, 3);
    CHECK(f.state(0) == UpstreamState::auth_failed);
    CHECK_FALSE(acquire(f.pool, 0, f.now).has_value());
    f.revive(0);
    CHECK(f.state(0) == UpstreamState::fit);
    f.pool.observe_failure(0, {Disposition::try_another, Blame::upstream, Cause::auth_failed, {}},
                           f.now);
    CHECK(f.state(0) == UpstreamState::auth_failed);
    f.pool.on_wake({});
}

TEST_CASE("a method that an upstream lacks is marked for that method alone") {
    Fixture f(2);
    f.report(0, Cause::method_unsupported, 1, "trace_block");
    CHECK(f.view(0).unsupported_methods.empty());
    f.report(0, Cause::method_unsupported, 2, "trace_block");
    CHECK(f.view(0).unsupported_methods == std::vector<std::string>{"trace_block"});
    CHECK(f.state(0) == UpstreamState::fit);
    f.report(0, Cause::answered, 0, "trace_block");
    CHECK(f.view(0).unsupported_methods.empty());

    f.report(0, Cause::method_unsupported, 1, "trace_block");
    f.report(0, Cause::plan_lacks_method, 2, "trace_block");
    CHECK(f.pool.status(f.now)[0].unsupported_methods.size() == 1);
    f.now += 10min;
    f.pool.tick(f.now);
    CHECK(f.view(0).unsupported_methods.empty());
}

TEST_CASE("one that lags is out, and says by how much") {
    Fixture f(3);
    f.now += 60s;
    f.head(0, 105);
    f.head(1, 105);
    f.head(2, 100);
    CHECK(f.state(2) == UpstreamState::lagging);
    CHECK(f.view(2).reason == "5 blocks behind");
    CHECK(f.pool.status(f.now)[2].lag_blocks == 5);
    f.head(2, 104);
    CHECK(f.state(2) == UpstreamState::fit);
}

TEST_CASE("scores are refreshed under traffic, and status tells what is known") {
    Fixture f(2);
    CHECK_FALSE(f.pool.status(f.now)[0].success_rate.has_value());
    CHECK_FALSE(f.pool.status(f.now)[0].latency_p50.has_value());
    for (int i = 0; i < 50; ++i) {
        f.report(0, Cause::answered, 0, "eth_call", 20ms);
        f.report(1, Cause::answered, 0, "eth_call", 200ms);
    }
    f.now += 250ms;
    f.report(0, Cause::answered, 0, "eth_call", 20ms);
    CHECK(f.view(0).score > 0.9);
    CHECK(f.view(1).score < 0.3);
    CHECK(f.view(0).slow_score > 0.9);
    const UpstreamStatus row = f.pool.status(f.now)[1];
    CHECK(row.name == "u1");
    CHECK(*row.latency_p50 > 170ms);
    CHECK(*row.latency_p95 < 230ms);
    CHECK(row.head->number == 100);
}

TEST_CASE("clients that come back after an idle time wake the poller once") {
    Fixture f(1);
    int wakes = 0;
    f.pool.on_wake([&wakes](std::optional<routing::UpstreamIndex> i) { wakes += !i.has_value(); });
    f.pool.note_client_call(f.now);
    f.now += 59s;
    f.pool.note_client_call(f.now);
    CHECK(wakes == 0);
    f.now += 60s;
    f.pool.note_client_call(f.now);
    f.pool.note_client_call(f.now);
    CHECK(wakes == 1);
    CHECK(f.pool.last_client_call() == f.now);
    f.pool.on_wake({});
}

TEST_CASE("threads may report, acquire and read at once") {
    Fixture f(3);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&f, t] {
            core::Published<routing::RoutingSnapshot>::Reader reader(f.pool.snapshots());
            for (std::uint64_t i = 0; i < 5000; ++i) {
                const core::TimePoint now = f.now + std::chrono::milliseconds(i);
                const std::size_t upstream = (t + i) % 3;
                const auto permit = acquire(f.pool, upstream, now);
                AttemptReport report;
                report.upstream = upstream;
                report.method = "eth_call";
                report.traits = &routing::find_method(report.method);
                report.verdict.cause = i % 97 == 0 ? Cause::server_error : Cause::answered;
                report.verdict.blame = i % 97 == 0 ? Blame::upstream : Blame::nobody;
                report.call_hash = i;
                report.at = now;
                f.pool.report(report);
                f.pool.note_client_call(now);
                static_cast<void>(reader.get()->upstreams.size());
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(f.pool.status(f.now)[0].in_flight == 0);
}

TEST_CASE("a report costs nanoseconds", "[.][bench]") {
    Fixture f(4);
    AttemptReport report;
    report.method = "eth_call";
    report.traits = &routing::find_method(report.method);
    report.latency = 5ms;
    constexpr int kRounds = 2'000'000;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) {
        report.at = f.now + std::chrono::microseconds(i * 20);
        report.upstream = static_cast<std::size_t>(i) % 4;
        const auto permit = acquire(f.pool, report.upstream, report.at);
        f.pool.report(report);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    WARN("acquire and report: " << took.count() / kRounds << " ns");
}

TEST_CASE("what an operator has drained stays so however it is reached, until it is let back") {
    const auto providers = routing::ProviderBook(config::built_in_providers());
    const config::Chain chain = chain_of(2);
    const core::TimePoint now{1h};
    Pool first(chain, now);
    first.drain(0, now);
    const std::vector<std::optional<routing::UpstreamIndex>> unknown(2);  // both are new
    Pool second(chain, now, providers, Pool::Succession{.before = first, .places = unknown});
    CHECK(second.status(now)[0].state == routing::UpstreamState::drained);
    CHECK(second.status(now)[1].state != routing::UpstreamState::drained);
    // Also one that was drained while its successor waited to take over.
    first.drain(1, now);
    second.observe_chain_id(1, kChainId, now);
    CHECK(second.status(now)[1].state == routing::UpstreamState::drained);
    second.resume(0, now);
    Pool third(chain, now, providers, Pool::Succession{.before = second, .places = unknown});
    CHECK(third.status(now)[0].state != routing::UpstreamState::drained);
    CHECK(third.status(now)[1].state == routing::UpstreamState::drained);
}

TEST_CASE("a changed rate of an upstream that goes on keeps what was spent today") {
    const auto providers = routing::ProviderBook(config::built_in_providers());
    config::Chain chain = chain_of(1);
    chain.upstreams[0].rate = {.calls_per_second = 500, .units_per_day = 1000};
    const core::TimePoint now{1h};
    Pool first(chain, now, providers);
    first.observe_chain_id(0, kChainId, now);
    CHECK(acquire(first, 0, now));
    const std::uint64_t spent = first.status(now)[0].units_today;
    REQUIRE(spent > 0);
    const std::vector<std::optional<routing::UpstreamIndex>> places{0};
    chain.upstreams[0].rate = {.calls_per_second = 400, .units_per_day = spent};
    Pool second(chain, now, providers, Pool::Succession{.before = first, .places = places});
    CHECK(second.status(now)[0].units_today == spent);
    CHECK(second.status(now)[0].state == routing::UpstreamState::quota_spent);
}
