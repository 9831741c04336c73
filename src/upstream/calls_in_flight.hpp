// How many of a chain's calls wait for their answer, and since when: for people who look now.
#pragma once

#include "core/time.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weir::upstream {

// Any thread; a request costs two atomic additions.
class CallsInFlight {
  public:
    static constexpr core::Duration kStep = std::chrono::milliseconds(250);
    static constexpr std::size_t kSteps = 4096;  // what is older than 17 minutes is shown younger
    static constexpr core::Duration kLate = core::seconds(3);

    // The calls of one request, from its beginning until it goes.
    class Held {
      public:
        Held(CallsInFlight& of, std::size_t calls, core::TimePoint begun)
            : place_(&of.place_of(step_of(begun))), calls_(static_cast<std::uint32_t>(calls)) {
            place_->fetch_add(calls_, std::memory_order_relaxed);
        }
        Held(Held&& other) noexcept
            : place_(std::exchange(other.place_, nullptr)), calls_(other.calls_) {}
        Held& operator=(Held&&) = delete;
        ~Held() {
            if (place_ != nullptr) {
                place_->fetch_sub(calls_, std::memory_order_relaxed);
            }
        }

      private:
        std::atomic<std::uint32_t>* place_;
        std::uint32_t calls_;
    };

    struct Seen {
        std::uint64_t calls = 0;
        std::uint64_t late = 0;   // have waited for kLate
        core::Duration oldest{};  // to a step, never too long; of none: zero
    };
    Seen look(core::TimePoint now) const;

  private:
    static std::int64_t step_of(core::TimePoint at) { return at.time_since_epoch() / kStep; }
    std::atomic<std::uint32_t>& place_of(std::int64_t step) {
        return begun_[static_cast<std::size_t>(step) % kSteps];
    }

    std::array<std::atomic<std::uint32_t>, kSteps> begun_{};  // by the step they began in
};

}  // namespace weir::upstream
