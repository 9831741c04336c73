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

// Any thread; counting is a few atomic additions. A count at the turn of a step may fall into the
// next one.
class RecentTraffic {
  public:
    static constexpr core::Duration kStep = core::seconds(10);
    static constexpr std::size_t kSteps = 60;

    enum class End : std::uint8_t {
        served,   // answered; errors that are the client's own, and reverts, included
        limited,  // told to wait
        failed,   // the gateway's own error: nobody could serve it
    };
    void add_call(End end, core::TimePoint now);
    void add_request(core::Duration duration, core::TimePoint now);

    struct Step {
        std::uint64_t calls = 0;
        std::uint64_t limited = 0;
        std::uint64_t failed = 0;
        std::optional<core::Duration> p50;  // of requests; right to about a fifth
        std::optional<core::Duration> p95;
    };
    // kSteps of them, oldest first; the last one is under way.
    std::vector<Step> list(core::TimePoint now) const;

  private:
    static constexpr std::size_t kBuckets = 40;  // each half an octave, from 0.1 ms on

    struct Slot {
        std::atomic<std::int64_t> step = -1;  // since the clock's epoch
        std::atomic<std::uint64_t> calls = 0;
        std::atomic<std::uint64_t> limited = 0;
        std::atomic<std::uint64_t> failed = 0;
        std::array<std::atomic<std::uint32_t>, kBuckets> durations{};
    };

    static std::optional<core::Duration> quantile(const Slot& slot, double share);
    Slot& slot_of(core::TimePoint now);

    std::array<Slot, kSteps> slots_;
    std::mutex turning_;
};

}  // namespace weir::upstream
