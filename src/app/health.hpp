// `weir health`: is the daemon behind an admin address ready? For container health checks.
#pragma once

#include "config/config.hpp"

#include <string>

namespace weir::app {

// The exit code: 0 when /readyz answers 200 within a few seconds, else 1 with one line on stderr.
int health(const config::Endpoint& admin);

}  // namespace weir::app
