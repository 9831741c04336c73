#include "app/check.hpp"

#include "config/describe.hpp"
#include "server/tls.hpp"

namespace weir::app {
namespace {

int found(const Check& options, std::size_t problems, std::ostream& err) {
    err << options.config << ": " << problems << (problems == 1 ? " problem\n" : " problems\n");
    return 2;
}

}  // namespace

void print(const std::vector<config::Problem>& problems, std::ostream& err) {
    for (const config::Problem& problem : problems) {
        err << to_string(problem) << '\n';
    }
}

int check(const Check& options, const config::Environment& environment, std::ostream& out,
          std::ostream& err) {
    const auto loaded = config::load_file(options.config, environment);
    if (!loaded) {
        print(loaded.error(), err);
        return found(options, loaded.error().size(), err);
    }
    const auto tls = server::ListenerTls::create(loaded->server.tls);
    if (!tls) {
        print({tls.error()}, err);
        return found(options, 1, err);
    }
    out << config::describe(*loaded) << std::flush;
    if (options.ask == Check::Ask::upstreams) {
        const std::optional<std::size_t> problems = check_live(*loaded, out, err);
        if (!problems) {
            return 2;
        }
        if (*problems != 0) {
            out << std::flush;
            return found(options, *problems, err);
        }
    }
    out << options.config << ": no problems\n" << std::flush;
    return 0;
}

}  // namespace weir::app
