#include "routing/health.hpp"

#include "routing/circuit_breaker.hpp"
#include "routing/cooldown.hpp"
#include "routing/method_marks.hpp"
#include "routing/score.hpp"
#include "support/catch.hpp"

using namespace weir::routing;
using namespace std::chrono_literals;
using weir::core::Duration;
using weir::core::TimePoint;

namespace {

const TimePoint kStart{1h};
using State = CircuitBreaker::State;

}  // namespace

TEST_CASE("latency quantiles are right to about a tenth") {
    LatencyHistogram histogram;
    CHECK_FALSE(histogram.quantile(0.5).has_value());
    for (int i = 1; i <= 1000; ++i) {
        histogram.add(std::chrono::milliseconds(i));
    }
    for (const auto& [share, expected] : {std::pair(0.5, 500.0), {0.95, 950.0}, {0.01, 10.0}}) {
        const double value =
            std::chrono::duration<double, std::milli>(*histogram.quantile(share)).count();
        CHECK(value > expected * 0.87);
        CHECK(value < expected * 1.13);
    }
    histogram.add(-5ms);
    histogram.add(Duration::max());
    histogram.fade();
    CHECK_FALSE(histogram.empty());
    for (int i = 0; i < 12; ++i) {
        histogram.fade();
    }
    CHECK(histogram.empty());
}

TEST_CASE("success counts the upstream's faults and fades with time") {
    HealthStats stats;
    CHECK_FALSE(stats.success_rate().has_value());
    CHECK(stats.success_estimate() == Approx(1.0));
    stats.record(AttemptResult::throttled, TimeClass::fast, 1ms, kStart);
    CHECK_FALSE(stats.success_rate().has_value());  // limits only
    for (int i = 0; i < 10; ++i) {
        stats.record(i < 2 ? AttemptResult::failure : AttemptResult::success, TimeClass::fast, 50ms,
                     kStart);
    }
    CHECK(*stats.success_rate() == Approx(0.8));
    stats.record(AttemptResult::throttled, TimeClass::fast, 1ms, kStart);
    CHECK(*stats.success_rate() == Approx(0.8));
    CHECK(stats.throttled_share() > 0);
    stats.forgive();
    CHECK(*stats.success_rate() == Approx(8.0 / 9));
    for (int i = 0; i < 20; ++i) {
        stats.record(AttemptResult::success, TimeClass::fast, 50ms, kStart + 300s);
    }
    CHECK(*stats.success_rate() > 0.99);
}

TEST_CASE("what was seen fades without calls too, so that who is healed gets some") {
    HealthStats stats;
    for (int i = 0; i < 2000; ++i) {
        stats.record(AttemptResult::failure, TimeClass::fast, 8s, kStart);
    }
    CHECK(stats.success_estimate() < 0.1);
    REQUIRE(stats.mean_latency(TimeClass::fast).has_value());
    for (Duration passed = 1s; passed <= 120s; passed += 1s) {
        stats.fade(kStart + passed);
    }
    CHECK(stats.success_estimate() > 0.6);
    CHECK_FALSE(stats.mean_latency(TimeClass::fast).has_value());
    stats.record(AttemptResult::success, TimeClass::fast, 5ms, kStart + 121s);
    CHECK(*stats.mean_latency(TimeClass::fast) == 5ms);
}

TEST_CASE("latencies are kept per time class, and quick failures do not flatter") {
    HealthStats stats;
    for (int i = 0; i < 50; ++i) {
        stats.record(AttemptResult::success, TimeClass::fast, 40ms, kStart);
        stats.record(AttemptResult::failure, TimeClass::fast, 1ms, kStart);
        stats.record(AttemptResult::success, TimeClass::slow, 2s, kStart);
    }
    CHECK(*stats.mean_latency(TimeClass::fast) > 39ms);
    CHECK(*stats.mean_latency(TimeClass::fast) < 41ms);
    CHECK(*stats.mean_latency(TimeClass::slow) > 1990ms);
    CHECK(*stats.latency_quantile(0.25) < 60ms);
}

TEST_CASE("the score: which of two upstreams is better, and by how much") {
    const auto value = [](double success, double throttled, Duration latency, std::uint64_t lag) {
        ScoreInput input;
        input.success = success;
        input.throttled = throttled;
        input.latency = latency;
        input.best_latency = Duration(20ms);
        input.lag_blocks = lag;
        return score(input);
    };
    CHECK(score({}) == Approx(1.0));
    CHECK(value(1, 0, 20ms, 0) == Approx(1.0));
    CHECK(value(1, 0, 25ms, 0) > 0.85);           // noise hardly counts
    CHECK(value(1, 0, 380ms, 0) == Approx(0.1));  // twenty times slower
    CHECK(value(0.9, 0, 20ms, 0) == Approx(0.81));
    CHECK(value(0.5, 0, 20ms, 0) < value(1, 0, 60ms, 0));  // failing is worse than slow
    CHECK(value(1, 0.5, 20ms, 0) == Approx(0.75));
    CHECK(value(1, 0, 20ms, 1) == Approx(0.8));
    CHECK(value(0, 1, 10s, 1000) == Approx(kScoreWeights.least));
}

TEST_CASE("a circuit opens on failures in a row, half-opens, and closes on success") {
    CircuitBreaker breaker(3, 10s);
    for (std::uint64_t call = 0; call < 2; ++call) {
        breaker.on_failure(Proof::reply, call, kStart);
    }
    CHECK(breaker.state(kStart) == State::closed);
    breaker.on_success(kStart);
    for (std::uint64_t call = 0; call < 2; ++call) {
        breaker.on_failure(Proof::reply, call, kStart);
    }
    CHECK(breaker.state(kStart) == State::closed);
    breaker.on_failure(Proof::reply, 2, kStart);
    CHECK(breaker.state(kStart) == State::open);
    CHECK(breaker.state(kStart + 9s) == State::open);
    CHECK(breaker.state(kStart + 10s) == State::half_open);

    breaker.on_failure(Proof::reply, 9, kStart + 10s);  // the trial fails: twice as long
    CHECK(breaker.state(kStart + 29s) == State::open);
    CHECK(breaker.state(kStart + 30s) == State::half_open);
    breaker.on_success(kStart + 30s);
    CHECK(breaker.state(kStart + 30s) == State::closed);
}

TEST_CASE("one call alone never opens a circuit; connections and probes need no second") {
    CircuitBreaker breaker(3, 10s);
    for (int i = 0; i < 100; ++i) {
        breaker.on_failure(Proof::reply, 7, kStart);
    }
    CHECK(breaker.state(kStart) == State::closed);
    breaker.on_failure(Proof::reply, 8, kStart);
    CHECK(breaker.state(kStart) == State::open);

    for (const Proof evidence : {Proof::connection, Proof::probe}) {
        CircuitBreaker other(3, 10s);
        for (int i = 0; i < 3; ++i) {
            other.on_failure(evidence, 7, kStart);
        }
        CHECK(other.state(kStart) == State::open);
    }
}

TEST_CASE("a circuit opens on frequent failures between successes") {
    CircuitBreaker breaker(5, 10s);
    std::uint64_t call = 0;
    for (int i = 0; i < 10; ++i) {
        if (i % 4 == 3) {
            breaker.on_success(kStart);
        }
        breaker.on_failure(Proof::reply, ++call, kStart);
    }
    CHECK(breaker.state(kStart) == State::open);

    CircuitBreaker mostly_good(5, 10s);
    for (int i = 0; i < 100; ++i) {
        mostly_good.on_failure(Proof::reply, ++call, kStart);
        mostly_good.on_success(kStart);
    }
    CHECK(mostly_good.state(kStart) == State::closed);
}

TEST_CASE("a good probe ends what probes and connections showed, not what calls showed") {
    CircuitBreaker dead(2, 10s);
    dead.on_failure(Proof::connection, 1, kStart);
    dead.on_failure(Proof::probe, 0, kStart);
    dead.on_probe_success(kStart + 1s);
    CHECK(dead.state(kStart + 1s) == State::half_open);

    CircuitBreaker failing(2, 10s);
    failing.on_failure(Proof::reply, 1, kStart);
    failing.on_failure(Proof::reply, 2, kStart);
    failing.on_probe_success(kStart + 1s);
    CHECK(failing.state(kStart + 1s) == State::open);
}

TEST_CASE("half-open after failed probes is doubt until a probe is good") {
    CircuitBreaker dead(2, 10s);
    dead.on_failure(Proof::probe, 0, kStart);
    dead.on_failure(Proof::probe, 0, kStart);
    CHECK_FALSE(dead.is_in_doubt(kStart));  // it is open
    CHECK(dead.is_in_doubt(kStart + 10s));
    dead.on_probe_success(kStart + 11s);
    CHECK_FALSE(dead.is_in_doubt(kStart + 11s));
    dead.on_failure(Proof::probe, 0, kStart + 12s);
    CHECK(dead.is_in_doubt(kStart + 32s));
    dead.on_success(kStart + 33s);
    CHECK_FALSE(dead.is_in_doubt(kStart + 33s));

    // Only calls can end it: who waits for the doubt to end before calling would wait for ever.
    CircuitBreaker failing(2, 10s);
    failing.on_failure(Proof::reply, 1, kStart);
    failing.on_failure(Proof::reply, 2, kStart);
    CHECK_FALSE(failing.is_in_doubt(kStart + 10s));
    // Unless the probes fail as well.
    failing.on_failure(Proof::probe, 0, kStart + 5s);
    CHECK(failing.is_in_doubt(kStart + 10s));
    failing.on_probe_success(kStart + 11s);
    CHECK_FALSE(failing.is_in_doubt(kStart + 11s));
}

TEST_CASE("forgiven failures do not count") {
    CircuitBreaker breaker(3, 10s);
    breaker.on_failure(Proof::reply, 1, kStart);
    breaker.on_failure(Proof::reply, 2, kStart);
    CHECK(breaker.forgive(1) == 1);
    CHECK(breaker.forgive(1) == 0);
    breaker.on_failure(Proof::reply, 3, kStart);
    CHECK(breaker.state(kStart) == State::closed);
    breaker.on_failure(Proof::reply, 4, kStart);
    CHECK(breaker.state(kStart) == State::open);
}

TEST_CASE("a cool-down is bounded and never shortened") {
    Cooldown cooldown(1s, 10min);
    CHECK_FALSE(cooldown.active(kStart));
    cooldown.start(std::nullopt, kStart);
    CHECK(cooldown.until() == kStart + 1s);
    cooldown.start(Duration(30s), kStart);
    cooldown.start(Duration(2s), kStart);
    CHECK(cooldown.until() == kStart + 30s);
    cooldown.start(Duration(0s), kStart + 40s);
    CHECK(cooldown.until() == kStart + 41s);
    cooldown.start(Duration(24h), kStart);
    CHECK(cooldown.until() == kStart + 10min);
    CHECK(cooldown.active(kStart + 10min - 1ns));
    CHECK_FALSE(cooldown.active(kStart + 10min));
}

TEST_CASE("a spent plan is renewed at 00:00 UTC") {
    const weir::core::WallTime midnight{24h * 20000};
    CHECK(until_renewal(midnight + 12h) == 12h);
    CHECK(until_renewal(midnight + 24h - 1s) == 1s);
    CHECK(until_renewal(midnight + 1h) == 23h);
    // The provider's day may begin a little later than ours.
    CHECK(until_renewal(midnight) == 10min);
    CHECK(until_renewal(midnight + 59min) == 10min);
}

TEST_CASE("a method is marked after two refusals with different params") {
    MethodMarks marks;
    marks.refuse("trace_block", 1, kStart);
    marks.refuse("trace_block", 1, kStart);
    CHECK(marks.marked().empty());
    marks.refuse("trace_block", 2, kStart);
    CHECK(marks.marked() == std::vector<std::string>{"trace_block"});
    const auto revision = marks.revision();
    marks.succeed("eth_call");
    CHECK(marks.revision() == revision);
    marks.succeed("trace_block");
    CHECK(marks.marked().empty());
    CHECK(marks.revision() > revision);

    marks.refuse("a", 1, kStart);
    marks.refuse("a", 2, kStart);
    marks.expire(kStart + MethodMarks::kExpiry - 1s);
    CHECK(marks.marked().size() == 1);
    marks.expire(kStart + MethodMarks::kExpiry);
    CHECK(marks.empty());
}

TEST_CASE("marks are bounded whatever clients ask for") {
    MethodMarks marks;
    for (int i = 0; i < 10'000; ++i) {
        marks.refuse("made_up" + std::to_string(i), 1, kStart + i * 1ms);
        marks.refuse("made_up" + std::to_string(i), 2, kStart + i * 1ms);
    }
    CHECK(marks.marked().size() == MethodMarks::kMost);
}
