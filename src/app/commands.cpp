#include "app/commands.hpp"

#include "app/check.hpp"
#include "app/daemon.hpp"
#include "app/demo.hpp"
#include "app/health.hpp"
#include "app/options.hpp"
#include "app/probe.hpp"
#include "app/version.hpp"
#include "config/load.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weir::app {
namespace {

constexpr int kDone = 0;
constexpr int kRuntimeFailure = 1;
constexpr int kBadUsage = 2;

int serve(config::Config config, ConfigLoader load_again, std::ostream& err) {
    auto daemon = Daemon::create(std::move(config), std::move(load_again));
    if (!daemon) {
        err << "weir: " << daemon.error().message << '\n';
        return kRuntimeFailure;
    }
    return (*daemon)->run();
}

// One overload per command.
struct Command {
    const config::Environment& environment;
    std::ostream& out;
    std::ostream& err;

    int operator()(const Run& run) const {
        const ConfigLoader load_again = [this, &run] {
            return config::load_file(*run.config, environment, run.flags,
                                     config::FileKind::regular);
        };
        config::LoadResult config = run.config
                                        ? config::load_file(*run.config, environment, run.flags)
                                        : config::from_flags(run.flags, environment);
        if (!config) {
            print(config.error(), err);
            return kBadUsage;
        }
        return serve(std::move(*config), run.config ? load_again : ConfigLoader(), err);
    }
    int operator()(const Demo& options) const {
        return run_demo(options.flags, environment, out, err);
    }
    int operator()(const Check& options) const { return check(options, environment, out, err); }
    int operator()(const Probe& options) const { return probe(options, environment, out, err); }
    int operator()(const Health& options) const {
        config::Endpoint admin = config::Admin{}.listen;
        if (options.admin) {
            const auto given = config::load_endpoint("--admin", *options.admin, environment);
            if (!given) {
                print({given.error()}, err);
                return kBadUsage;
            }
            admin = *given;
        }
        return health(admin);
    }
    int operator()(const Version&) const {
        out << "weir " << version() << '\n';
        return kDone;
    }
    int operator()(const Help&) const {
        out << help_text();
        return kDone;
    }
};

}  // namespace

int run_command(int argc, char** argv, std::ostream& out, std::ostream& err) {
    const std::vector<std::string> copied(argv + (argc > 0 ? 1 : 0), argv + argc);
    hide_urls(argc, argv);
    const std::vector<std::string_view> arguments(copied.begin(), copied.end());
    const core::Result<Options, UsageError> options = parse_options(arguments);
    if (!options) {
        err << "weir: " << options.error().message << '\n';
        if (arguments.empty()) {
            err << help_text();
        }
        return kBadUsage;
    }
    const config::Environment environment = config::process_environment();
    return std::visit(Command{environment, out, err}, *options);
}

}  // namespace weir::app
