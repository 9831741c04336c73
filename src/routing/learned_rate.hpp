// How many calls a second an upstream takes whose limits nobody has configured. Not synchronized;
// time is a parameter.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <optional>

namespace weir::routing {

// Counts what happens in a second.
class SecondCounter {
  public:
    void add(double amount, core::TimePoint now);
    // In the present second or in the one before, whichever is more.
    double most(core::TimePoint now) const;
    // Has it counted for a whole second, without a second of nothing?
    bool has_whole_second(core::TimePoint now) const;

  private:
    core::TimePoint since_{};
    std::int64_t second_ = 0;
    double present_ = 0;
    double before_ = 0;
};

// Unlimited until the first refusal. That sets the failing rate to what was sent in a second, or
// where that shows little of it (none was answered, or nearly all within a part of a second),
// leaves it open; each later one sets it to what was answered, though not by more than half at once
// (a quarter in the first second after a cool-down). The rate falls to kKept of what was answered,
// never below kLeastRate, and climbs while nothing is refused: it doubles each second up to kNear
// of the failing rate, creeps from there to kFar of it, since the limit is somewhere there, and
// doubles each five seconds beyond; there, or while the failing rate is open, to no more than
// kAhead times what is sent. So it is back from the least to kNear of a thousand a second in
// eleven seconds. All is forgotten kForgetAfter the last refusal.
//
// After each cool-down one call goes first; every answer lets two more follow, beside the rate, up
// to the burst. A refusal of what was more than the rate lowers the burst alone: by half, or, where
// no more than a quarter of it was answered since the cool-down, to that.
class LearnedRate {
  public:
    static constexpr double kLeastRate = 0.5;  // calls per second
    static constexpr double kKept = 0.85;
    static constexpr double kNear = 0.9;
    static constexpr double kFar = 1.1;
    static constexpr double kCreep = 0.01;       // of the failing rate, per second
    static constexpr double kLeastCreep = 0.05;  // calls per second, per second
    static constexpr double kFarDoubling = 5;    // seconds
    static constexpr double kAhead = 4;       // times what is sent: what is not used proves nothing
    static constexpr double kMostRate = 1e6;  // calls per second
    static constexpr double kFirstBurst = 16;    // calls, at most
    static constexpr double kBurstClimb = 0.02;  // calls, per second
    static constexpr double kGrain = 0.05;       // seconds whose calls may always go together
    static constexpr core::Duration kForgetAfter = std::chrono::minutes(10);

    // When so many calls may go, or as many as ever go together.
    core::TimePoint ready_at(double calls, core::TimePoint now) const;
    // When the last of so many will have gone: a best guess.
    core::TimePoint estimate(double calls, core::TimePoint now) const;
    std::optional<double> level(core::TimePoint now) const;  // nothing: not limited
    void take(double calls, core::TimePoint now);
    void on_answer(double calls, core::TimePoint now);
    void on_limit(core::TimePoint sent_at, core::TimePoint now, core::TimePoint resume_at);

    // Calls per second, as of the last call; nothing: not limited.
    std::optional<double> rate() const;

  private:
    struct Limit {
        double failing;      // calls per second
        double rate;         // likewise, now
        double burst;        // calls
        double level;        // calls that may go, at `at`
        core::TimePoint at;  // may be ahead: nothing goes before
        double credit;       // of the burst, for answers to let go

        void advance(core::TimePoint now);
        double grow(double seconds);  // returns the calls that come in meanwhile
        double seconds_for(double calls) const;
        double least_burst() const;
        double more_than_least() const;
        core::TimePoint when(double calls, core::TimePoint now) const;
    };

    std::optional<Limit> advanced(core::TimePoint now) const;
    void fall(Limit& limit, core::TimePoint now);

    std::optional<Limit> limit_;  // nothing: not limited
    core::TimePoint fell_at_{};
    core::TimePoint resume_at_{};
    double answered_since_ = 0;  // `resume_at_`
    SecondCounter sent_;
    SecondCounter answered_;
};

}  // namespace weir::routing
