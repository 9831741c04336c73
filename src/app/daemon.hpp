// The composition root: every object built once, in order; then run, drain, stop.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weir::app {

class Daemon {
  public:
    // Opens the listeners; an error is one line for people (a port in use, a CA file that cannot
    // be read).
    static core::Result<std::unique_ptr<Daemon>> create(config::Config config);
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
