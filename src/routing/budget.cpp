#include "routing/budget.hpp"

#include <algorithm>
#include <cmath>

namespace weir::routing {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kRounding = 1e-6;  // of a token
constexpr double kLongestWait = 366.0 * 86400;

core::Duration wait_of(double seconds) {
    return std::chrono::ceil<core::Duration>(Seconds(std::min(seconds, kLongestWait)));
}

}  // namespace

double TokenBucket::level(core::TimePoint now) const {
    const double passed = std::max(0.0, Seconds(now - at_).count());
    return std::max(level_, std::min(capacity_, level_ + passed * per_second_));
}

core::TimePoint TokenBucket::ready_at(double amount, core::TimePoint now) const {
    const double missing = amount - level(now);
    const core::TimePoint from = std::max(now, at_);
    return missing <= kRounding ? from : from + wait_of(missing / per_second_);
}

void TokenBucket::take(double amount, core::TimePoint now) {
    level_ = level(now) - amount;
    at_ = std::max(at_, now);
}

void TokenBucket::take_over(const TokenBucket& before, core::TimePoint now) {
    level_ = capacity_ * before.level(now) / before.capacity_;
    at_ = std::max(now, before.at_);
}

void TokenBucket::restart(double level, core::TimePoint when) {
    level_ = level;
    at_ = std::max(at_, when);
}

Budget::Budget(const config::Rate& rate) : per_day_(rate.units_per_day) {
    if (rate.calls_per_second > 0) {
        const double burst =
            rate.burst ? static_cast<double>(*rate.burst) : std::max(1.0, rate.calls_per_second);
        calls_.emplace(rate.calls_per_second, burst);
    }
    if (rate.units_per_second > 0) {
        units_.emplace(rate.units_per_second, rate.units_per_second);
    }
    if (!calls_ && !units_) {
        learned_.emplace();
    }
}

Budget::Budget(const config::Rate& rate, const Budget& before, core::TimePoint now) : Budget(rate) {
    if (calls_ && before.calls_) {
        calls_->take_over(*before.calls_, now);
    }
    if (units_ && before.units_) {
        units_->take_over(*before.units_, now);
    }
    if (learned_ && before.learned_) {
        learned_ = before.learned_;
    }
    today_ = before.today_;
    day_ = before.day_;
    renews_at_ = before.renews_at_;
}

core::TimePoint Budget::ready_at(const Charge& charge, core::TimePoint now) const {
    core::TimePoint at = now;
    if (calls_) {
        at = std::max(at, calls_->ready_at(std::min(charge.calls, calls_->capacity()), now));
    }
    if (units_) {
        at = std::max(at, units_->ready_at(std::min(charge.units, units_->capacity()), now));
    }
    if (learned_) {
        at = std::max(at, learned_->ready_at(charge.calls, now));
    }
    return at;
}

core::TimePoint Budget::estimate(const Charge& ahead, const Charge& charge,
                                 core::TimePoint now) const {
    core::TimePoint at = ready_at(charge, now);
    if (calls_) {
        at = std::max(
            at, calls_->ready_at(ahead.calls + std::min(charge.calls, calls_->capacity()), now));
    }
    if (units_) {
        at = std::max(
            at, units_->ready_at(ahead.units + std::min(charge.units, units_->capacity()), now));
    }
    if (learned_) {
        at = std::max(at, learned_->estimate(ahead.calls + charge.calls, now));
    }
    return at;
}

std::size_t Budget::ready_calls(const Charge& one, std::size_t most, core::TimePoint now) const {
    auto ready = static_cast<double>(most);
    const auto bound = [&](const TokenBucket& bucket, double each) {
        if (each > 0) {
            const double level = bucket.ready_at(0, now) > now ? 0 : bucket.level(now);
            ready = std::min(ready, level / each + kRounding);
        }
    };
    if (calls_) {
        bound(*calls_, one.calls);
    }
    if (units_) {
        bound(*units_, one.units);
    }
    if (learned_) {
        ready = std::min(ready, learned_->level(now).value_or(ready));
    }
    return ready < 1 ? 0 : static_cast<std::size_t>(ready);
}

void Budget::take(const Charge& charge, core::TimePoint now) {
    if (calls_) {
        calls_->take(charge.calls, now);
    }
    if (units_) {
        units_->take(charge.units, now);
    }
    if (learned_) {
        learned_->take(charge.calls, now);
    }
    today_ += charge.units;
}

void Budget::on_answer(std::size_t calls, core::TimePoint now) {
    if (learned_) {
        learned_->on_answer(static_cast<double>(calls), now);
    }
}

// What was saved up before a refusal is worth nothing after it.
void Budget::on_limit(core::TimePoint sent_at, core::TimePoint now, core::TimePoint resume_at) {
    if (calls_) {
        calls_->restart(std::min(1.0, calls_->level(now)), resume_at);
    }
    if (units_) {
        units_->restart(std::min(0.0, units_->level(now)), resume_at);
    }
    if (learned_) {
        learned_->on_limit(sent_at, now, resume_at);
    }
}

void Budget::on_wall_clock(core::WallTime wall, core::TimePoint now) {
    using Days = std::chrono::duration<std::int64_t, std::ratio<86400>>;
    const auto since_1970 = wall.time_since_epoch();
    const auto day = std::chrono::floor<Days>(since_1970);
    if (day_ && day.count() > *day_) {
        today_ = 0;
    }
    day_ = day.count();
    renews_at_ = now + std::chrono::duration_cast<core::Duration>(day + Days(1) - since_1970);
}

}  // namespace weir::routing
