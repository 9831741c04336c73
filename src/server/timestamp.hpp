// Times as the admin pages write them.
#pragma once

#include "core/time.hpp"

#include <string>

namespace weir::server {

// RFC 3339 in UTC with milliseconds.
std::string timestamp(core::WallTime at);

}  // namespace weir::server
