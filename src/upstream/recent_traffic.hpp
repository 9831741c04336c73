// What a chain's clients met in the last ten minutes, in steps: for people who look now.
#pragma once

#include "core/time.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace weir::upstream {

// Any thread; counting is a few atomic additions. A count at the turn of a beat may fall into the
// next one.
class RecentTraffic {
  public:
    static constexpr core::Duration kStep = core::seconds(10);
    static constexpr std::size_t kSteps = 60;
    static constexpr core::Duration kBeat = core::seconds(2);  // what is counted apart
    static constexpr std::size_t kBeatsOfStep = kStep / kBeat;

    enum class End : std::uint8_t {
        served,   // answered; errors that are the client's own, and reverts, included
        limited,  // told to wait
        failed,   // the gateway's own error: nobody could serve it
        gone,     // its client left before its answer; not among the calls
    };
    void add_call(End end, core::TimePoint now);
    void add_request(core::Duration duration, core::TimePoint now);

    struct Step {
        std::uint64_t calls = 0;  // that came to an answer
        std::uint64_t limited = 0;
        std::uint64_t failed = 0;
        std::uint64_t gone = 0;
        std::optional<core::Duration> p50;  // of requests; right to about a fifth
        std::optional<core::Duration> p95;
    };
    // kSteps of them, oldest first; the last one is under way.
    std::vector<Step> list(core::TimePoint now) const;

    // What is true now: the beat under way and those before it that make nearly a step together.
    struct Latest {
        core::Duration span{};
        Step met;
    };
    Latest latest(core::TimePoint now) const;

  private:
    static constexpr std::size_t kBeats = kSteps * kBeatsOfStep;
    static constexpr std::size_t kBuckets = 40;  // each half an octave, from 0.1 ms on

    struct Slot {
        std::atomic<std::int64_t> beat = -1;  // since the clock's epoch
        std::atomic<std::uint64_t> calls = 0;
        std::atomic<std::uint64_t> limited = 0;
        std::atomic<std::uint64_t> failed = 0;
        std::atomic<std::uint64_t> gone = 0;
        std::array<std::atomic<std::uint32_t>, kBuckets> durations{};
    };

    Slot& slot_of(core::TimePoint now);
    Step sum(std::int64_t first, std::int64_t last) const;  // of beats, both included

    std::array<Slot, kBeats> slots_;
    std::mutex turning_;
};

}  // namespace weir::upstream
