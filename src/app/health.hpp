// `weir health`: is the daemon behind an admin address ready? For container health checks.
#pragma once

#include "config/config.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::app {

// What a reply to /readyz says against being ready: the status, and what stands in the body.
// Nothing where it is ready.
std::optional<std::string> trouble_in(std::string_view reply);

// The exit code: 0 when /readyz answers 200 within a few seconds, else 1 with one line on stderr.
int health(const config::Endpoint& admin);

}  // namespace weir::app
