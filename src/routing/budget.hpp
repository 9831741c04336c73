// What one upstream may be sent: calls and provider units per second, units per day. Not
// synchronized; time is a parameter.
#pragma once

#include "config/config.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <optional>

namespace weir::routing {

// What a message costs.
struct Charge {
    double calls = 1;
    double units = 0;
};

// Fills with `per_second` up to `capacity`. A charge larger than the capacity passes when the
// bucket is full; the level falls below zero by it.
class TokenBucket {
  public:
    TokenBucket(double per_second, double capacity)
        : per_second_(per_second), level_(capacity), capacity_(capacity) {}

    // `now` or later: when `amount` is there.
    core::TimePoint ready_at(double amount, core::TimePoint now) const;
    // The same from another level than the present one.
    core::TimePoint ready_at(double amount, double level, core::TimePoint now) const;
    void take(double amount, core::TimePoint now);

    // Nothing flows in before `when`, at which it holds `level`.
    void restart(double level, core::TimePoint when);
    void add(double amount) { level_ += amount; }

    void set_rate(double per_second, core::TimePoint now);
    void set_capacity(double capacity) { capacity_ = capacity; }
    double per_second() const { return per_second_; }
    double capacity() const { return capacity_; }
    double level(core::TimePoint now) const;

  private:
    double per_second_;
    double level_;  // at `at_`
    double capacity_;
    core::TimePoint at_{};
};

// The rate of an upstream whose limits nobody has configured. Unlimited until the first refusal;
// that sets it to a part of what was sent in the second before. It climbs slowly while nothing is
// refused, is forgotten after kForgetAfter, and is never below kLeastRate.
//
// After each cool-down one call goes first; every answer lets two more follow, up to the burst.
// Each refusal halves the burst.
class LearnedRate {
  public:
    static constexpr double kLeastRate = 0.5;    // calls per second
    static constexpr double kKept = 0.7;         // of the rate that was refused
    static constexpr double kClimbShare = 0.01;  // per second
    static constexpr double kClimb = 0.1;        // calls per second, per second
    static constexpr double kFirstBurst = 16;    // calls
    static constexpr double kBurstClimb = 0.1;   // calls, per second
    static constexpr core::Duration kForgetAfter = std::chrono::minutes(10);

    core::TimePoint ready_at(double calls, core::TimePoint now) const;
    core::TimePoint estimate(double calls, core::TimePoint now) const;
    std::optional<double> level(core::TimePoint now) const;  // nothing: not limited
    void take(double calls, core::TimePoint now);
    void on_answer(core::TimePoint now);
    void on_limit(core::TimePoint sent_at, core::TimePoint now, core::TimePoint resume_at);

    // Calls per second; nothing: not limited.
    std::optional<double> rate() const;

  private:
    void climb(core::TimePoint now);
    double observed(core::TimePoint now) const;

    std::optional<TokenBucket> bucket_;  // nothing: not limited
    core::TimePoint fell_at_{};
    core::TimePoint climbed_at_{};
    bool ramping_ = false;  // since a cool-down, until the burst has been earned
    // Calls sent in the present second and in the one before.
    std::int64_t second_ = 0;
    double sent_ = 0;
    double sent_before_ = 0;
};

class Budget {
  public:
    explicit Budget(const config::Rate& rate);

    // When a message may go that is next in turn: `now` or later.
    core::TimePoint ready_at(const Charge& charge, core::TimePoint now) const;
    // When one may go that comes after others which cost `ahead`: a best guess.
    core::TimePoint estimate(const Charge& ahead, const Charge& charge, core::TimePoint now) const;

    // How many such calls may go now; `most` where nothing limits them.
    std::size_t ready_calls(const Charge& one, std::size_t most, core::TimePoint now) const;

    // Charges what is sent, whether it was ready or not.
    void take(const Charge& charge, core::TimePoint now);

    void on_answer(core::TimePoint now);
    // A rate limit in reply to what was sent at `sent_at`; nothing is sent before `resume_at`.
    void on_limit(core::TimePoint sent_at, core::TimePoint now, core::TimePoint resume_at);

    // Renews the allowance when a new day has begun in UTC. Wall-clock time is used for nothing
    // else.
    void on_wall_clock(core::WallTime wall, core::TimePoint now);
    bool is_spent() const { return per_day_ != 0 && units_today() >= per_day_; }
    core::TimePoint renews_at() const { return renews_at_; }

    std::uint64_t units_today() const { return static_cast<std::uint64_t>(today_); }
    std::optional<double> learned_rate() const {
        return learned_ ? learned_->rate() : std::nullopt;
    }

  private:
    std::optional<TokenBucket> calls_;
    std::optional<TokenBucket> units_;
    std::optional<LearnedRate> learned_;  // where neither is configured
    const std::uint64_t per_day_;
    double today_ = 0;
    std::optional<std::int64_t> day_;  // since 1970
    core::TimePoint renews_at_ = core::TimePoint::max();
};

}  // namespace weir::routing
