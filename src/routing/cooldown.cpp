#include "routing/cooldown.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ratio>

namespace weir::routing {

core::Duration until_renewal(core::WallTime wall) {
    using namespace std::chrono;
    using Days = duration<std::int64_t, std::ratio<86400>>;
    const auto since_midnight = wall.time_since_epoch() - floor<Days>(wall.time_since_epoch());
    return since_midnight < hours(1) ? core::Duration(minutes(10))
                                     : duration_cast<core::Duration>(Days(1) - since_midnight);
}

Cooldown::Cooldown(core::Duration by_default, core::Duration longest)
    : by_default_(by_default), longest_(longest) {}

void Cooldown::start(std::optional<core::Duration> asked, core::TimePoint now) {
    const bool usable = asked && *asked > core::Duration::zero();
    until_ = std::max(until_, now + std::min(usable ? *asked : by_default_, longest_));
}

}  // namespace weir::routing
