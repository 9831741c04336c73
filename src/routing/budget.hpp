// What one upstream may be sent: calls and provider units per second, units per day. Not
// synchronized; time is a parameter.
#pragma once

#include "config/config.hpp"
#include "core/time.hpp"
#include "routing/learned_rate.hpp"

#include <cstddef>
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
    void take(double amount, core::TimePoint now);

    // As full as `before`, and resting as long.
    void take_over(const TokenBucket& before, core::TimePoint now);
    // Nothing flows in before `when`, at which it holds `level`.
    void restart(double level, core::TimePoint when);
    double capacity() const { return capacity_; }
    double level(core::TimePoint now) const;

  private:
    double per_second_;
    double level_;  // at `at_`
    double capacity_;
    core::TimePoint at_{};
};

class Budget {
  public:
    explicit Budget(const config::Rate& rate);
    // Of an upstream whose rate has changed: what was spent stays spent.
    Budget(const config::Rate& rate, const Budget& before, core::TimePoint now);

    // When a message may go that is next in turn: `now` or later.
    core::TimePoint ready_at(const Charge& charge, core::TimePoint now) const;
    // When one may go that comes after others which cost `ahead`: a best guess.
    core::TimePoint estimate(const Charge& ahead, const Charge& charge, core::TimePoint now) const;

    // How many such calls may go now; `most` where nothing limits them.
    std::size_t ready_calls(const Charge& one, std::size_t most, core::TimePoint now) const;

    // Charges what is sent, whether it was ready or not.
    void take(const Charge& charge, core::TimePoint now);

    // So many calls were answered, with whatever but a rate limit.
    void on_answer(std::size_t calls, core::TimePoint now);
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
    std::uint64_t per_day_;
    double today_ = 0;
    std::optional<std::int64_t> day_;  // since 1970
    core::TimePoint renews_at_ = core::TimePoint::max();
};

}  // namespace weir::routing
