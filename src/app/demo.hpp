// `weir demo`: three simulated providers on loopback and the same daemon as `weir run` before them.
#pragma once

#include <ostream>
#include <vector>

#include "config/load.hpp"

namespace weir::app {

// The configuration that `weir demo` starts from: defaults and the addresses from the flags.
config::LoadResult demo_addresses(const config::Flags& flags,
                                  const config::Environment& environment);

// Adds the providers as one chain and serves until a signal. The exit code.
int run_demo(config::Config config, std::ostream& out, std::ostream& err);

}  // namespace weir::app
