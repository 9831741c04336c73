// The JSON of /api/observations. Pure.
#pragma once

#include "proxy/observations.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weir::server {

// Times in UTC, as RFC 3339 has them, to the second.
std::string observations_json(const std::vector<proxy::ObservedShape>& shapes,
                              std::uint64_t forgotten);

}  // namespace weir::server
