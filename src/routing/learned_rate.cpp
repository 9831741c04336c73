#include "routing/learned_rate.hpp"

#include <algorithm>
#include <cmath>

namespace weir::routing {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kRounding = 1e-6;  // of a call
constexpr double kLongestWait = 366.0 * 86400;
constexpr double kLn2 = 0.6931471805599453;

std::int64_t second_of(core::TimePoint time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

void SecondCounter::add(double amount, core::TimePoint now) {
    const std::int64_t second = second_of(now);
    if (second != second_) {
        if (second > second_ + 1) {
            since_ = now;
        }
        before_ = second == second_ + 1 ? present_ : 0;
        present_ = 0;
        second_ = second;
    }
    present_ += amount;
}

double SecondCounter::most(core::TimePoint now) const {
    const std::int64_t age = second_of(now) - second_;
    return age == 0 ? std::max(present_, before_) : age == 1 ? present_ : 0;
}

bool SecondCounter::has_whole_second(core::TimePoint now) const {
    return most(now) > 0 && now - since_ >= std::chrono::seconds(1);
}

double LearnedRate::Limit::least_burst() const { return std::max(1.0, rate * kGrain); }

// Whole calls.
double LearnedRate::Limit::more_than_least() const { return std::floor(burst - least_burst()); }

double LearnedRate::Limit::grow(double seconds) {
    const double near = kNear * failing;
    const double far = kFar * failing;
    double calls = 0;
    if (rate < near) {
        const double span = std::min(seconds, std::log2(near / rate));
        const double before = rate;
        rate = span < seconds ? near : rate * std::exp2(span);
        calls += (rate - before) / kLn2;
        seconds -= span;
    }
    if (rate < far && seconds > 0) {
        const double creep = std::max(kCreep * failing, kLeastCreep);
        const double span = std::min(seconds, (far - rate) / creep);
        const double before = rate;
        rate = span < seconds ? far : rate + span * creep;
        calls += span * (before + rate) / 2;
        seconds -= span;
    }
    if (seconds > 0) {
        const double before = rate;
        rate = std::min(kMostRate, rate * std::exp2(std::min(seconds, 600.0) / kFarDoubling));
        calls += seconds * (before + rate) / 2;
    }
    return calls;
}

// How long it takes for so many to come in; rather too long than too short.
double LearnedRate::Limit::seconds_for(double calls) const {
    const double near = kNear * failing;
    if (rate >= near) {
        return calls / rate;
    }
    const double doubling = (near - rate) / kLn2;  // calls while it doubles
    if (calls <= doubling) {
        return std::log2(1 + calls * kLn2 / rate);
    }
    return std::log2(near / rate) + (calls - doubling) / near;
}

void LearnedRate::Limit::advance(core::TimePoint now) {
    if (now <= at) {
        return;
    }
    const double seconds = Seconds(now - at).count();
    const double calls = grow(seconds);
    const double most = std::max(kFirstBurst, rate);
    burst = std::max(least_burst(), std::min(most, burst + kBurstClimb * seconds));
    level = std::max(level, std::min(burst, level + calls));
    at = now;
}

core::TimePoint LearnedRate::Limit::when(double calls, core::TimePoint now) const {
    const double missing = calls - level;
    const core::TimePoint from = std::max(now, at);
    if (missing <= kRounding) {
        return from;
    }
    const double seconds = std::min(seconds_for(missing), kLongestWait);
    return from + std::chrono::ceil<core::Duration>(Seconds(seconds));
}

std::optional<LearnedRate::Limit> LearnedRate::advanced(core::TimePoint now) const {
    if (!limit_ || now - fell_at_ >= kForgetAfter) {
        return std::nullopt;
    }
    Limit limit = *limit_;
    limit.advance(now);
    // A rate that nobody uses proves nothing: beyond what is known it grows with what is sent.
    const double known = limit.failing < kMostRate ? kFar * limit.failing : 0;
    const double used = kAhead * std::max(sent_.most(now), kFirstBurst);
    limit.rate = std::min(limit.rate, std::max({limit_->rate, known, used}));
    return limit;
}

core::TimePoint LearnedRate::ready_at(double calls, core::TimePoint now) const {
    const std::optional<Limit> limit = advanced(now);
    return limit ? limit->when(std::min(calls, limit->burst), now) : now;
}

// Answers will have earned the burst by then.
core::TimePoint LearnedRate::estimate(double calls, core::TimePoint now) const {
    std::optional<Limit> limit = advanced(now);
    if (!limit) {
        return now;
    }
    limit->level += limit->credit;
    return limit->when(calls, now);
}

std::optional<double> LearnedRate::level(core::TimePoint now) const {
    const std::optional<Limit> limit = advanced(now);
    if (!limit) {
        return std::nullopt;
    }
    return limit->at > now ? 0 : limit->level;
}

void LearnedRate::take(double calls, core::TimePoint now) {
    sent_.add(calls, now);
    limit_ = advanced(now);
    if (limit_) {
        limit_->level -= calls;
    }
}

void LearnedRate::on_answer(double calls, core::TimePoint now) {
    answered_.add(calls, now);
    limit_ = advanced(now);
    if (!limit_) {
        return;
    }
    if (now < resume_at_) {  // to what was under way at the refusal
        limit_->failing = std::max(limit_->failing, answered_.most(now));
        return;
    }
    answered_since_ += calls;
    const double earned = std::min(limit_->credit, 2 * calls);
    limit_->credit -= earned;
    limit_->level = std::max(limit_->level, std::min(limit_->burst, limit_->level + earned));
}

void LearnedRate::fall(Limit& limit, core::TimePoint now) {
    if (answered_since_ == 0) {
        // The cool-down was too short: that says nothing of the rate that fails.
        limit.rate = std::max(kLeastRate, limit.rate / 2);
        limit.burst = limit.least_burst();
        return;
    }
    const bool early = now - resume_at_ < std::chrono::seconds(1);
    const bool more_than_rate = early || sent_.most(now) > 1.2 * limit.rate;
    if (more_than_rate && limit.more_than_least() >= 1) {
        // A provider that saves nothing up answers one or two at once, however long it rested.
        const bool far_less = answered_since_ <= limit.burst / 4;
        limit.burst = std::max(limit.least_burst(), far_less ? answered_since_ : limit.burst / 2);
        return;
    }
    // A second that is cut where the clock's begins may show one call less than the rate.
    const double answered = answered_.most(now) + 1;
    limit.failing = std::max(
        kLeastRate, std::min(limit.rate, std::max(answered, limit.rate / (early ? 4 : 2))));
    limit.rate = std::max(kLeastRate, kKept * limit.failing);
}

void LearnedRate::on_limit(core::TimePoint sent_at, core::TimePoint now,
                           core::TimePoint resume_at) {
    limit_ = advanced(now);
    if (!limit_) {
        const double answered = answered_.most(now);
        const double sent = sent_.most(now);
        // A few calls, or none that was answered, prove nothing of how many go in a second; nor
        // does a part of a second in which nearly all was answered.
        const bool enough = sent_.has_whole_second(now) || answered < sent / 2;
        const bool known = answered > 0 && sent > kFirstBurst && enough;
        limit_ = Limit{.failing = known ? std::max(answered, sent) : kMostRate,
                       .rate = std::max(kLeastRate, kKept * answered),
                       .burst = known ? std::clamp(answered / 4, 1.0, kFirstBurst) : kFirstBurst,
                       .level = 0,
                       .at = now,
                       .credit = 0};
        fell_at_ = now;
    } else if (sent_at > fell_at_) {  // else it says nothing new
        fall(*limit_, now);
        fell_at_ = now;
    }
    limit_->level = 1;
    limit_->at = std::max(limit_->at, resume_at);
    limit_->credit = limit_->more_than_least();
    resume_at_ = limit_->at;
    answered_since_ = 0;
}

std::optional<double> LearnedRate::rate() const {
    return limit_ ? std::optional<double>(limit_->rate) : std::nullopt;
}

}  // namespace weir::routing
