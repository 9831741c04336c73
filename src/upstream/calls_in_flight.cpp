#include "upstream/calls_in_flight.hpp"

#include <algorithm>

namespace weir::upstream {

CallsInFlight::Seen CallsInFlight::look(core::TimePoint now) const {
    Seen seen;
    const std::int64_t last = step_of(now);
    for (std::size_t back = 0; back < kSteps; ++back) {
        const std::int64_t step = last - static_cast<std::int64_t>(back);
        const std::uint32_t calls =
            begun_[static_cast<std::size_t>(step) % kSteps].load(std::memory_order_relaxed);
        if (calls == 0) {
            continue;
        }
        const core::TimePoint end{(step + 1) * kStep};
        const core::Duration age = std::max(core::Duration::zero(), now - end);
        seen.calls += calls;
        seen.late += age >= kLate ? calls : 0;
        seen.oldest = age;
    }
    return seen;
}

}  // namespace weir::upstream
