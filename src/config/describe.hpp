// The configuration in effect, for people: `weir check` prints it. Hosts only, no secrets.
#pragma once

#include "config/config.hpp"

#include <string>

namespace weir::config {

// A line per listener section, chain and upstream, each ending in a newline.
std::string describe(const Config& config);

}  // namespace weir::config
