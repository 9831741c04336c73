#include "routing/cooldown.hpp"

#include <algorithm>

namespace weir::routing {

Cooldown::Cooldown(core::Duration by_default, core::Duration longest)
    : by_default_(by_default), longest_(longest) {}

void Cooldown::start(std::optional<core::Duration> asked, core::TimePoint now) {
    const bool usable = asked && *asked > core::Duration::zero();
    until_ = std::max(until_, now + std::min(usable ? *asked : by_default_, longest_));
}

}  // namespace weir::routing
