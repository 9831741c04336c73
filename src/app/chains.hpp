// The chains that are served, and what a new configuration makes of them: what has not changed goes
// on, what is new is built beside it, what is gone ends with its last request.
#pragma once

#include "config/config.hpp"
#include "config/difference.hpp"
#include "core/published.hpp"
#include "core/result.hpp"
#include "proxy/client.hpp"
#include "proxy/serving.hpp"
#include "routing/provider_book.hpp"
#include "runtime/event.hpp"
#include "runtime/task_group.hpp"
#include "runtime/worker.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "upstream/destinations.hpp"
#include "upstream/poller.hpp"
#include "upstream/transport.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace weir::app {

// All calls on one thread, that of the worker; what it publishes is for all. The references must
// outlive it, and it must outlive whoever serves what it publishes.
class Chains {
  public:
    Chains(const runtime::Clock& clock, telemetry::Metrics& metrics, telemetry::Log& log);
    ~Chains();

    // What is served: chains and clients.
    const core::Published<proxy::Serving>& serving() const { return serving_; }
    // How upstreams are reached, for the transports of all workers.
    const upstream::DestinationTable& destinations() const { return table_; }

    // The first configuration. An error names keys.
    core::Result<void> open(const config::Config& config);
    // Begins to ask upstreams for who they are, by this worker.
    void start(runtime::Worker& worker, upstream::Transport& transport);

    struct Chain;
    // A configuration that could be served: everything is built, and its upstreams are asked.
    struct Staged {
        std::vector<std::shared_ptr<Chain>> chains;
        std::shared_ptr<const routing::ProviderBook> providers;
    };
    // After start(). An error leaves everything as it is.
    core::Result<Staged> stage(const config::Config& before, const config::Config& after,
                               const config::Difference& difference);
    // The chains, by their new names, that can serve now and would be without an upstream that can.
    std::vector<std::string> lost(const Staged& staged) const;
    // From now on requests are served so: as `config`, which it was staged for, says.
    void adopt(Staged staged, const config::Config& config);
    // It is not to be served after all.
    void discard(Staged staged);

    // Ends everything that runs and returns when nothing is left.
    runtime::Task<> stop();

  private:
    using Providers = std::shared_ptr<const routing::ProviderBook>;
    std::shared_ptr<Chain> make(const config::Chain& config, upstream::Destinations destinations,
                                const Providers& providers);
    std::shared_ptr<Chain> succeed(const Chain& before, const config::ChainChange& change,
                                   const config::Chain& config, upstream::Destinations destinations,
                                   const Providers& providers);
    void serve(const config::Config& config);
    void retire_all_but(const std::vector<std::shared_ptr<Chain>>& kept,
                        const std::vector<std::shared_ptr<Chain>>& old);
    void tell_disagreements(const proxy::ChainContext& chain);
    void poll(Chain& chain);
    runtime::Task<> retire(std::shared_ptr<Chain> chain);

    const runtime::Clock& clock_;
    telemetry::Metrics& metrics_;
    telemetry::Log& log_;
    std::size_t next_index_ = 0;
    std::size_t next_id_ = 0;
    Providers providers_;
    upstream::DestinationTable table_;
    proxy::ClientStates clients_;
    std::vector<std::shared_ptr<Chain>> chains_;  // that are served, in the configuration's order
    core::Published<proxy::Serving> serving_{nullptr};

    runtime::Worker* worker_ = nullptr;
    upstream::Transport* transport_ = nullptr;
    std::unique_ptr<runtime::TaskGroup> retiring_;
    std::unique_ptr<runtime::Event> stopping_;
};

}  // namespace weir::app
