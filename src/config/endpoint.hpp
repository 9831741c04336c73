// Addresses to listen on: `127.0.0.1:8545`, `[::1]:8545`, `localhost:0`.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"

#include <string_view>

namespace weir::config {

core::Result<Endpoint> parse_endpoint(std::string_view text);

// Could both not be bound at once? Port 0 never collides; the wildcard holds every address.
bool collide(const Endpoint& a, const Endpoint& b);

}  // namespace weir::config
