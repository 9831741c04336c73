#include "app/check.hpp"

#include "config/describe.hpp"
#include "server/tls.hpp"

namespace weir::app {

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
        err << options.config << ": " << loaded.error().size()
            << (loaded.error().size() == 1 ? " problem\n" : " problems\n");
        return 2;
    }
    const auto tls = server::ListenerTls::create(loaded->server.tls);
    if (!tls) {
        err << tls.error().message << '\n' << options.config << ": 1 problem\n";
        return 2;
    }
    out << config::describe(*loaded) << options.config << ": no problems\n" << std::flush;
    return options.ask == Check::Ask::upstreams ? check_live(*loaded, out, err) : 0;
}

}  // namespace weir::app
