#pragma once

#include <string_view>

namespace weir::app {

// The project's version, as the build system knows it.
std::string_view version();

}  // namespace weir::app
