#include "app/version.hpp"

namespace weir::app {

std::string_view version() { return WEIR_VERSION; }

}  // namespace weir::app
