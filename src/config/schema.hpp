// Every key of the configuration file, in one place: the loader reads by these tables and the
// documentation is checked against them.
#pragma once

#include "config/field.hpp"

#include <string_view>
#include <vector>

namespace weir::config {

// The whole file. Chains may be left out where flags give one.
Section<Config> file_section(Need chains);

// The keys that can be set, with their full paths in file order.
std::vector<Key> available_keys();

}  // namespace weir::config
