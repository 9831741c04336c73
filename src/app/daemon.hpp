// The composition root: every object built once, in order; then run, drain, stop.
#pragma once

#include "config/load.hpp"
#include "core/result.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir::app {

// Reads the configuration again.
using ConfigLoader = std::function<config::LoadResult()>;

class Daemon {
  public:
    // Opens the listeners; an error is one line for people (a port in use, a CA file that cannot
    // be read). SIGHUP and POST /api/reload take up what `load_again` returns; without it there is
    // nothing to reload.
    static core::Result<std::unique_ptr<Daemon>> create(config::Config config,
                                                        ConfigLoader load_again = {});
    ~Daemon();

    // The addresses bound, with real ports.
    const std::vector<config::Endpoint>& rpc_endpoints() const;
    const config::Endpoint& admin_endpoint() const;

    // Serves until SIGTERM or SIGINT. The exit code: 0 after a drain in which everything finished,
    // 1 when something was cut off or a second signal came.
    int run();

  private:
    struct Impl;
    explicit Daemon(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace weir::app
