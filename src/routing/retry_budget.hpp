// How many second attempts a chain's reads may make, so that an outage is not multiplied by those
// who ask again. Not synchronized; time is a parameter.
#pragma once

#include "core/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::routing {

// Further attempts stay within a share of the first ones of the last ten seconds, or within the
// least rate where that is more.
class RetryBudget {
  public:
    static constexpr std::size_t kWindow = 10;       // seconds
    static constexpr double kShare = 0.2;            // of the first attempts
    static constexpr std::uint64_t kLeastRate = 10;  // per second, over the window

    void note_calls(std::uint64_t calls, core::TimePoint now);

    // Is there a further attempt left?
    bool has_one(core::TimePoint now) const;
    void take(core::TimePoint now);
    // One that was taken lately multiplied no outage after all.
    void give_back();

  private:
    struct Second {
        std::int64_t second = -1;
        std::uint64_t calls = 0;
        std::uint64_t retries = 0;
    };

    Second& at(core::TimePoint now);

    std::array<Second, kWindow> seconds_{};
};

}  // namespace weir::routing
