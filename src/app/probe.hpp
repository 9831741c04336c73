// `weir probe`: asks endpoints what they can do.
#pragma once

#include "app/options.hpp"

#include <ostream>

namespace weir::app {

// What was found goes to `out`, progress to `err`. The exit code: 0 when every endpoint said its
// chain id, 1 when one did not, 2 for a URL that is none.
int probe(const Probe& options, const config::Environment& environment, std::ostream& out,
          std::ostream& err);

}  // namespace weir::app
