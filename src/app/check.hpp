// `weir check`: judges a configuration file and prints what is wrong with it, or what is in effect.
#pragma once

#include "app/options.hpp"

#include <cstddef>
#include <optional>
#include <ostream>

namespace weir::app {

// The exit code: 0, or 2 with every problem on `err`, one a line.
int check(const Check& options, const config::Environment& environment, std::ostream& out,
          std::ostream& err);

// Judges a configuration that has no problems by itself by its upstreams: how many problems there
// are, each a line on `err`; nothing if it could not be done.
std::optional<std::size_t> check_live(const config::Config& config, std::ostream& out,
                                      std::ostream& err);

// One line a problem.
void print(const std::vector<config::Problem>& problems, std::ostream& err);

}  // namespace weir::app
