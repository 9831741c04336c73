#include "routing/budget.hpp"

#include "support/catch.hpp"

#include <chrono>

using namespace weir;
using namespace weir::routing;
using namespace std::chrono_literals;

namespace {

constexpr core::TimePoint kStart{1h};

Charge calls(double count) { return {.calls = count, .units = 0}; }
Charge units(double count) { return {.calls = 1, .units = count}; }

// How many single calls go at once.
int at_once(Budget& budget, core::TimePoint now, const Charge& charge = {}) {
    int sent = 0;
    while (sent < 1000 && budget.ready_at(charge, now) <= now) {
        budget.take(charge, now);
        ++sent;
    }
    return sent;
}

// Sends whatever is allowed from `from` on, a look every millisecond.
int sent_within(Budget& budget, core::TimePoint from, core::Duration span) {
    int sent = 0;
    for (core::TimePoint now = from; now < from + span; now += 1ms) {
        const int more = at_once(budget, now);
        for (int i = 0; i < more; ++i) {
            budget.on_answer(1, now);
        }
        sent += more;
    }
    return sent;
}

core::WallTime wall(std::int64_t days, core::Duration time_of_day) {
    return core::WallTime(std::chrono::hours(24 * days)) +
           std::chrono::duration_cast<core::WallTime::duration>(time_of_day);
}

}  // namespace

TEST_CASE("calls: a burst, then the rate") {
    struct Case {
        double rate;
        std::optional<std::uint64_t> burst;
        int at_once;
        core::Duration next;
    };
    const Case cases[] = {
        {25, 50, 50, 40ms},
        {25, {}, 25, 40ms},  // one second's worth
        {0.5, {}, 1, 2s},    // one call at least
        {10, 1, 1, 100ms},
    };
    for (const Case& c : cases) {
        Budget budget({.calls_per_second = c.rate, .burst = c.burst});
        CHECK(at_once(budget, kStart) == c.at_once);
        const core::TimePoint next = budget.ready_at({}, kStart);
        CHECK(next - kStart > c.next - 1us);
        CHECK(next - kStart < c.next + 1us);
        CHECK(at_once(budget, next) == 1);
        CHECK(at_once(budget, next + 1h) == c.at_once);
        CHECK_FALSE(budget.learned_rate());
    }
}

TEST_CASE("units: one second's worth at once; a call that costs more passes when all is there") {
    Budget budget({.units_per_second = 100});
    CHECK(at_once(budget, kStart, units(26)) == 3);
    CHECK(budget.ready_at(units(26), kStart) > kStart);
    const core::TimePoint later = kStart + 10s;
    CHECK(budget.ready_at(units(250), later) == later);
    budget.take(units(250), later);
    CHECK(budget.ready_at(units(10), later) >= later + 1590ms);
    CHECK(budget.ready_at(units(10), later) <= later + 1610ms);
}

TEST_CASE("a second of a configured budget never holds more than burst and rate") {
    Budget budget({.calls_per_second = 20, .burst = 5});
    CHECK(sent_within(budget, kStart, 10s) <= 5 + 200);
    CHECK(sent_within(budget, kStart + 10s, 10s) >= 199);
}

TEST_CASE("probes charge in advance and push others back") {
    Budget budget({.calls_per_second = 10, .burst = 1});
    budget.take({}, kStart);
    budget.take({}, kStart);
    CHECK(budget.ready_at({}, kStart) > kStart + 199ms);
}

TEST_CASE("after a cool-down a configured budget starts from one call") {
    Budget budget({.calls_per_second = 100});
    budget.on_limit(kStart, kStart, kStart + 2s);
    CHECK(budget.ready_at({}, kStart) == kStart + 2s);
    CHECK(budget.ready_at({}, kStart + 1s) == kStart + 2s);
    CHECK(at_once(budget, kStart + 2s) == 1);
    CHECK(sent_within(budget, kStart + 2s, 1s) >= 98);
}

TEST_CASE("without a configured rate nothing is limited until a refusal") {
    Budget budget({});
    CHECK(at_once(budget, kStart) == 1000);
    CHECK_FALSE(budget.learned_rate());
}

TEST_CASE("a refusal teaches a part of the rate that was answered; it climbs, and is forgotten") {
    Budget budget({});
    for (int i = 0; i < 100; ++i) {
        budget.take({}, kStart + i * 10ms);
        budget.on_answer(1, kStart + i * 10ms);
    }
    const core::TimePoint refused = kStart + 1s;
    budget.on_limit(refused - 5ms, refused, refused + 2s);
    REQUIRE(budget.learned_rate());
    CHECK(*budget.learned_rate() == Approx(85));

    // Replies to what was under way say nothing new.
    budget.on_limit(refused - 1ms, refused + 3ms, refused + 2s);
    CHECK(*budget.learned_rate() == Approx(85));

    // One call first, then as answers come.
    const core::TimePoint over = refused + 2s;
    CHECK(budget.ready_at({}, refused + 100ms) == over);
    CHECK(at_once(budget, over) == 1);
    budget.on_answer(1, over);
    CHECK(at_once(budget, over) == 2);

    const int second = sent_within(budget, over + 1s, 1s);
    CHECK(second >= 85);
    CHECK(second <= 125);
    sent_within(budget, over + 2s, 15s);  // creeps: the limit is near
    CHECK(*budget.learned_rate() > 95);
    CHECK(*budget.learned_rate() < 110);

    budget.take({}, refused + LearnedRate::kForgetAfter);
    CHECK_FALSE(budget.learned_rate());
}

TEST_CASE("the learned rate never falls to zero, and neither does the burst") {
    Budget budget({});
    core::TimePoint now = kStart;
    for (int i = 0; i < 50; ++i) {
        budget.take({}, now);
        budget.on_limit(now, now + 1ms, now + 1s);
        now += 2s;
        REQUIRE(budget.ready_at({}, now) <= now);
    }
    CHECK(*budget.learned_rate() >= LearnedRate::kLeastRate);
    at_once(budget, now);
    CHECK(budget.ready_at({}, now) <= now + 2s);
}

TEST_CASE("a learned budget settles below a provider's limit") {
    // The provider: a bucket of 10 a second. Ours sends as much as it may.
    Budget budget({});
    TokenBucket provider(10, 10);
    core::TimePoint rest_until{};
    int refused = 0;
    int answered = 0;
    for (core::TimePoint now = kStart; now < kStart + 120s; now += 5ms) {
        for (int i = 0; i < 4 && now >= rest_until && budget.ready_at({}, now) <= now; ++i) {
            budget.take({}, now);
            if (provider.ready_at(1, now) <= now) {
                provider.take(1, now);
                budget.on_answer(1, now);
                ++answered;
            } else {
                rest_until = now + 1s;
                budget.on_limit(now, now, rest_until);
                ++refused;
            }
        }
    }
    CHECK(answered > 120 * 5);
    CHECK(refused < 40);
}

TEST_CASE("estimates count who came first") {
    Budget configured({.calls_per_second = 10, .burst = 1});
    configured.take({}, kStart);
    const core::TimePoint fifth = configured.estimate(calls(4), {}, kStart);
    CHECK(fifth > kStart + 499ms);
    CHECK(fifth < kStart + 501ms);

    // Once it has been refused, a learned budget expects to earn its burst again at once.
    Budget learned({});
    learned.take({}, kStart);
    learned.on_limit(kStart, kStart, kStart + 2s);
    CHECK(learned.estimate(calls(11), {}, kStart) == kStart + 2s);
    CHECK(learned.estimate(calls(40), {}, kStart) > kStart + 3s);
}

TEST_CASE("the daily allowance is renewed at 00:00 UTC") {
    Budget budget({.units_per_day = 100});
    budget.on_wall_clock(wall(20000, 23h), kStart);
    CHECK(budget.renews_at() == kStart + 1h);
    budget.take(units(60), kStart);
    CHECK_FALSE(budget.is_spent());
    budget.take(units(60), kStart);
    CHECK(budget.is_spent());
    CHECK(budget.units_today() == 120);
    budget.on_wall_clock(wall(20000, 23h + 59min), kStart + 59min);
    CHECK(budget.is_spent());
    budget.on_wall_clock(wall(20001, 0s), kStart + 1h);
    CHECK_FALSE(budget.is_spent());
    CHECK(budget.units_today() == 0);
}

TEST_CASE("a wall clock that jumps renews the allowance once at most") {
    Budget budget({.units_per_day = 100});
    budget.on_wall_clock(wall(20000, 12h), kStart);
    budget.take(units(100), kStart);
    budget.on_wall_clock(wall(19000, 12h), kStart + 1s);  // back
    CHECK(budget.is_spent());
    CHECK(budget.renews_at() == kStart + 1s + 12h);
    budget.on_wall_clock(wall(20000, 12h), kStart + 2s);  // and forth
    CHECK_FALSE(budget.is_spent());
    budget.take(units(100), kStart + 3s);
    budget.on_wall_clock(wall(20000, 13h), kStart + 4s);
    CHECK(budget.is_spent());
}

TEST_CASE("without an allowance units are counted all the same") {
    Budget budget({});
    budget.take(units(26), kStart);
    CHECK(budget.units_today() == 26);
    CHECK_FALSE(budget.is_spent());
}

TEST_CASE("a changed rate forgets nothing that was spent, and gives no second burst") {
    const config::Rate before{
        .calls_per_second = 500, .units_per_second = 100, .burst = 40, .units_per_day = 1000};
    Budget budget(before);
    budget.on_wall_clock(wall(20000, 12h), kStart);
    budget.take({.calls = 30, .units = 949}, kStart);
    config::Rate after = before;
    SECTION("calls a second") { after.calls_per_second = 400; }
    SECTION("the burst") { after.burst = 20; }
    SECTION("units a second") { after.units_per_second = 50; }
    SECTION("units a day") { after.units_per_day = 2000; }
    SECTION("no limit but that of the day") {
        after.calls_per_second = after.units_per_second = 0;
        after.burst.reset();
    }
    SECTION("the day's limit is taken away, and given back") { after.units_per_day = 0; }
    Budget changed(after, budget, kStart);
    CHECK(changed.units_today() == 949);
    CHECK(changed.renews_at() == kStart + 12h);
    if (after.burst) {
        CHECK(at_once(changed, kStart + 1h, {.calls = 1, .units = 0}) ==
              static_cast<int>(*after.burst));
        Budget again(after, budget, kStart);
        CHECK(at_once(again, kStart, {.calls = 1, .units = 0}) == 0);  // 849 units are owed
    }
    Budget back({.units_per_day = 900}, changed, kStart);
    CHECK(back.is_spent());
    back.on_wall_clock(wall(20001, 0h), kStart + 12h);
    CHECK(back.units_today() == 0);
    CHECK_FALSE(back.is_spent());
}

TEST_CASE("what was learned of a rate outlives a change of the daily allowance") {
    Budget budget({});
    budget.take(calls(200), kStart);
    budget.on_answer(100, kStart + 1s);
    budget.on_limit(kStart, kStart + 1s, kStart + 2s);
    REQUIRE(budget.learned_rate());
    const Budget changed({.units_per_day = 1000}, budget, kStart + 3s);
    CHECK(changed.learned_rate() == budget.learned_rate());
}

TEST_CASE("a bucket of another size is as full as it was, and rests as long") {
    TokenBucket before(10, 40);
    before.take(30, kStart);
    TokenBucket after(5, 20);
    after.take_over(before, kStart + 1s);
    CHECK(after.level(kStart + 1s) == Approx(10));
    before.restart(0, kStart + 60s);
    after.take_over(before, kStart + 1s);
    CHECK(after.ready_at(1, kStart + 1s) == kStart + 60s + 200ms);
}
