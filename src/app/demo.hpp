// `weir demo`: three simulated providers on loopback and the same daemon as `weir run` before them.
#pragma once

#include "config/load.hpp"

#include <ostream>

namespace weir::app {

// Serves until a signal; `flags` may give addresses. The exit code.
int run_demo(const config::Flags& flags, const config::Environment& environment, std::ostream& out,
             std::ostream& err);

}  // namespace weir::app
