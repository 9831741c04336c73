// The command line to an exit code: 0 done, 1 runtime failure, 2 bad usage or configuration.
#include "app/commands.hpp"

#include <csignal>
#include <exception>
#include <iostream>
#include <string_view>

namespace {

// Whoever tells a daemon that has just begun to reload, or sends what others take for "open your
// log again", does not mean to end it. A SIGHUP waits until the daemon listens to it.
void hold_signals() {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, nullptr);
    std::signal(SIGUSR1, SIG_IGN);
    std::signal(SIGUSR2, SIG_IGN);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "run") {
        hold_signals();
    }
    try {
        return weir::app::run_command(argc, argv, std::cout, std::cerr);
    } catch (const std::exception& error) {
        std::cerr << "weir: " << error.what() << '\n';
        return 1;
    }
}
