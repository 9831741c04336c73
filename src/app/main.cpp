// The command line to an exit code: 0 done, 1 runtime failure, 2 bad usage or configuration.
#include "app/commands.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    try {
        return weir::app::run_command(argc, argv, std::cout, std::cerr);
    } catch (const std::exception& error) {
        std::cerr << "weir: " << error.what() << '\n';
        return 1;
    }
}
