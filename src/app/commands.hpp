// What each command does.
#pragma once

#include <ostream>

namespace weir::app {

// Overwrites URLs among the arguments in place. Returns the exit code.
int run_command(int argc, char** argv, std::ostream& out, std::ostream& err);

}  // namespace weir::app
