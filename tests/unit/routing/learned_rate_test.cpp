// What is learned of a provider's rate, played through against providers of known rates.
#include "routing/learned_rate.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <random>
#include <string>

using namespace weir;
using namespace weir::routing;
using namespace std::chrono_literals;

namespace {

constexpr core::TimePoint kStart{1h};

// Does it take one more call at this time?
using Provider = std::function<bool(core::TimePoint)>;

double seconds(core::Duration span) { return std::chrono::duration<double>(span).count(); }

Provider bucket(double rate, double burst) {
    return [rate, burst, level = burst, at = kStart](core::TimePoint now) mutable {
        level = std::min(burst, level + seconds(now - at) * rate);
        at = now;
        const bool taken = level >= 1;
        level -= taken ? 1 : 0;
        return taken;
    };
}

Provider window(double rate) {
    return [rate, second = 0.0, count = 0.0](core::TimePoint now) mutable {
        const double present = std::floor(seconds(now.time_since_epoch()));
        count = present == second ? count : 0;
        second = present;
        count += 1;
        return count <= rate;
    };
}

struct Played {
    double answered = 0;  // from `from` on
    double limited = 0;
};

// A client who always has more to send, 50 ms away from the provider; what comes first is an array
// of a hundred calls that is refused as a whole, or one of a thousand of which some are answered.
// Each refusal is followed by a cool-down.
class Play {
  public:
    Play(Provider provider, core::Duration cooldown)
        : provider_(std::move(provider)), cooldown_(cooldown) {}

    void refuse_all_at_first() {
        rate_.take(100, now_);
        const core::TimePoint sent = now_;
        now_ += 50ms;
        limited(sent);
    }

    void answer_what_it_can_at_first() {
        rate_.take(1000, now_);
        const core::TimePoint sent = now_;
        double taken = 0;
        for (int i = 0; i < 1000; ++i) {
            taken += provider_(now_) ? 1 : 0;
        }
        now_ += 50ms;
        rate_.on_answer(taken, now_);
        limited(sent);
    }

    // Where the client does not have enough to send at any time: so many a second, evenly.
    void ask_at(double calls_per_second) { demand_ = calls_per_second; }

    Played run(core::Duration span) {
        Played played;
        for (const core::TimePoint end = now_ + span; now_ < end; now_ += 1ms) {
            asked_ += demand_ / 1000;
            while (!replies_.empty() && replies_.front().at <= now_) {
                const Reply reply = replies_.front();
                replies_.pop_front();
                if (reply.taken) {
                    rate_.on_answer(1, now_);
                    ++played.answered;
                } else {
                    limited(reply.sent);
                    ++played.limited;
                }
            }
            while (asked_ >= 1 && now_ >= rest_until_ && rate_.ready_at(1, now_) <= now_) {
                asked_ -= 1;
                rate_.take(1, now_);
                replies_.push_back({now_, now_ + 50ms, provider_(now_ + 25ms)});
            }
        }
        return played;
    }

    const LearnedRate& rate() const { return rate_; }

  private:
    struct Reply {
        core::TimePoint sent;
        core::TimePoint at;
        bool taken;
    };

    void limited(core::TimePoint sent) {
        rest_until_ = std::max(rest_until_, now_ + cooldown_);
        rate_.on_limit(sent, now_, rest_until_);
    }

    Provider provider_;
    core::Duration cooldown_;
    double demand_ = 1e9;  // calls a second
    double asked_ = 0;     // calls that wait to be sent
    core::TimePoint now_ = kStart;
    core::TimePoint rest_until_{};
    LearnedRate rate_;
    std::deque<Reply> replies_;
};

}  // namespace

TEST_CASE("within 20 s most of a provider's rate is used, and few calls are refused") {
    struct Kind {
        const char* name;
        std::function<Provider(double)> make;
    };
    const Kind kinds[] = {
        {"a second's worth saved up", [](double rate) { return bucket(rate, rate); }},
        {"little saved up", [](double rate) { return bucket(rate, std::max(1.0, rate / 10)); }},
        {"ten seconds' worth saved up", [](double rate) { return bucket(rate, 10 * rate); }},
        {"so many a second", [](double rate) { return window(rate); }},
    };
    for (const Kind& kind : kinds) {
        for (const double rate : {5.0, 50.0, 500.0}) {
            for (const bool all_refused : {true, false}) {
                INFO(kind.name << ", " << rate << " a second, at first "
                               << (all_refused ? "all" : "some") << " refused");
                Play play(kind.make(rate), 1s);
                all_refused ? play.refuse_all_at_first() : play.answer_what_it_can_at_first();
                const Played early = play.run(20s);
                const Played late = play.run(40s);
                const auto share = [](const Played& played) {
                    return played.limited / (played.limited + played.answered);
                };
                INFO(early.answered / 20 << " a second, then " << late.answered / 40 << "; limited "
                                         << share(early) << ", then " << share(late));
                CHECK(late.answered >= 0.7 * rate * 40);
                CHECK(share({.answered = early.answered + late.answered,
                             .limited = early.limited + late.limited}) < 0.1);
                CHECK(share(late) < 0.05);
            }
        }
    }
}

TEST_CASE("a provider that saves up little is found out in a few refusals") {
    for (const double rate : {2.0, 5.0, 20.0, 100.0}) {
        for (const double demand : {1.2, 1.6}) {
            INFO(rate << " a second, asked for " << demand << " times that");
            Play play(bucket(rate, std::max(1.0, rate / 10)), 1s);
            play.ask_at(demand * rate);
            const Played early = play.run(10s);
            const Played late = play.run(30s);
            INFO(early.answered / 10 << " a second, then " << late.answered / 30 << "; limited "
                                     << early.limited << ", then " << late.limited);
            CHECK(early.limited <= std::max(6.0, rate / 10));
            CHECK(early.answered >= 0.4 * rate * 10);
            CHECK(late.answered >= 0.7 * rate * 30);
        }
    }
}

TEST_CASE(
    "whatever the provider: nothing in a cool-down, never below the least rate, and most used") {
    std::mt19937_64 random(20260101);
    const auto between = [&random](double least, double most) {
        return std::uniform_real_distribution<>(least, most)(random);
    };
    for (int i = 0; i < 200; ++i) {
        const double rate = std::exp(between(std::log(2.0), std::log(300.0)));
        const double saved = std::max(1.0, rate * between(0.05, 3));
        const double demand = rate * between(0.5, 3);
        const auto cooldown = std::chrono::milliseconds(static_cast<int>(between(200, 2500)));
        INFO(i << ": " << rate << " a second, " << saved << " saved up, asked for " << demand
               << ", cool-downs of " << cooldown.count() << " ms");
        Play play(between(0, 1) < 0.3 ? window(std::ceil(rate)) : bucket(rate, saved), cooldown);
        play.ask_at(demand);
        play.run(30s);
        const Played late = play.run(60s);
        INFO(late.answered / 60 << " a second; limited " << late.limited);
        CHECK(late.answered >= 0.55 * 60 * std::min(rate, demand));
        CHECK(late.limited <= 0.1 * (late.limited + late.answered) + 6);
        CHECK(play.rate().rate().value_or(LearnedRate::kLeastRate) >= LearnedRate::kLeastRate);
    }
}

TEST_CASE("from the least rate it is back near a thousand a second within eleven seconds") {
    // A penalty that outlasts every cool-down, then all is as before.
    bool penalty = false;
    Play play([&penalty](core::TimePoint) { return !penalty; }, 1s);
    play.refuse_all_at_first();
    CHECK(play.rate().rate() == LearnedRate::kLeastRate);
    const Played first = play.run(12s);
    CHECK(first.limited == 0);
    CHECK(*play.rate().rate() > 0.85 * 1000);
    penalty = true;
    play.run(20s);
    CHECK(*play.rate().rate() < 10);
    penalty = false;
    play.run(1s + 11s);
    CHECK(*play.rate().rate() > 0.6 * 1000);
}

TEST_CASE("a provider that grants more from some day on is found out about") {
    Play play(
        [grant = bucket(50, 50), more = bucket(500, 500)](core::TimePoint now) mutable {
            return now < kStart + 60s ? grant(now) : more(now);
        },
        1s);
    play.answer_what_it_can_at_first();
    play.run(60s);
    CHECK(*play.rate().rate() < 60);
    play.run(45s);  // creeps for twenty of them, then doubles each five
    CHECK(*play.rate().rate() > 0.7 * 500);
}

TEST_CASE("answers that were under way at the refusal count as answered") {
    LearnedRate rate;
    rate.take(200, kStart);
    rate.on_limit(kStart, kStart + 10ms, kStart + 1s);
    CHECK(rate.rate() == LearnedRate::kLeastRate);
    rate.on_answer(150, kStart + 20ms);
    rate.on_limit(kStart, kStart + 30ms, kStart + 1s);  // of the same calls: nothing new
    CHECK(rate.ready_at(1, kStart + 40ms) == kStart + 1s);
    for (core::TimePoint now = kStart + 1s; now < kStart + 10s; now += 1ms) {
        if (rate.ready_at(1, now) == now) {
            rate.take(1, now);
            rate.on_answer(1, now);
        }
    }
    CHECK(*rate.rate() > 0.85 * 200);
}

TEST_CASE("a rate that nobody uses does not grow beyond what is known") {
    for (const double earlier : {0.0, 50.0}) {
        LearnedRate rate;
        core::TimePoint now = kStart;
        const auto ask = [&](const Provider& provider) {
            if (rate.ready_at(1, now) > now) {
                return false;
            }
            rate.take(1, now);
            const bool taken = provider(now);
            if (taken) {
                rate.on_answer(1, now + 10ms);
            } else {
                rate.on_limit(now, now + 10ms, now + 1s);
            }
            return !taken;
        };
        // Refused once, early or of many; then four calls a second for minutes.
        for (double i = 0; i < earlier; ++i) {
            now += 20ms;
            ask(bucket(1000, 1000));
        }
        ask([](core::TimePoint) { return false; });
        for (int i = 0; i < 1200; ++i) {
            now += 250ms;
            ask(bucket(1000, 1000));
        }
        INFO("after " << earlier << " calls");
        CHECK(rate.rate().value_or(0) < 100);

        int refused = 0;
        const Provider slow = bucket(2, 2);
        for (int i = 0; i < 240; ++i) {
            now += 250ms;
            refused += ask(slow) ? 1 : 0;
        }
        CHECK(refused < 20);
    }
}
