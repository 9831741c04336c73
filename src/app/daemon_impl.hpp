// The daemon's insides: what it is made of, in the order in which that is built.
#pragma once

#include "app/admin_source.hpp"
#include "app/chains.hpp"
#include "app/daemon.hpp"
#include "app/reload.hpp"
#include "proxy/filter_table.hpp"
#include "proxy/handler.hpp"
#include "proxy/transaction_records.hpp"
#include "runtime/event.hpp"
#include "runtime/task_group.hpp"
#include "server/rpc_site.hpp"
#include "server/server.hpp"
#include "server/tls.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "upstream/http_transport.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::app {

using Tls = std::shared_ptr<const server::ListenerTls>;

// What of one configuration is built before anything of it holds.
struct Prepared {
    Chains::Staged chains;
    config::Config config;
    Tls tls;
};

// Everything that one thread serves with.
struct Lane {
    Lane(unsigned index, runtime::Clock& clock, runtime::Random& random,
         runtime::MemoryBudget& budget)
        : worker(index, clock, random, budget), work(worker.io.get_executor()) {}

    runtime::Worker worker;
    runtime::WorkGuard work;  // run() returns at stop() only
    std::unique_ptr<upstream::HttpTransport> transport;
    std::unique_ptr<proxy::Services> services;
    std::unique_ptr<proxy::Handler> handler;
    std::unique_ptr<server::RpcSite> site;
    std::unique_ptr<server::Server> server;
};

// Members are built in this order and destroyed in the reverse one.
struct Daemon::Impl {
    Impl(config::Config settings, ConfigLoader loader);

    core::Result<void> build();
    void build_lane(unsigned index);
    std::shared_ptr<const server::Settings> rpc_settings(Tls tls);
    void announce();
    ReloadReport reload(std::string_view trigger);
    ReloadReport try_reload();
    void adopt(Prepared next);
    runtime::Task<> adopt_when_ready(Prepared next, std::uint64_t number);
    int run();
    void on_every_lane(const std::function<void(Lane&)>& action);
    runtime::Task<bool> every_lane_drained(core::TimePoint deadline);
    runtime::Task<> watch_signals(runtime::Event& told_to_stop);
    runtime::Task<> live();
    void stop_lanes();

    config::Config config;  // that is in effect; the first lane's
    const ConfigLoader load_again;
    runtime::SystemClock clock;
    runtime::SystemRandom random;
    telemetry::PieceRedactor secrets;  // for errors that providers made
    std::unique_ptr<telemetry::Log> log;
    telemetry::Metrics metrics;
    proxy::Observations observations;
    upstream::RecentTraffic unrouted;
    runtime::MemoryBudget budget;
    Chains chains;  // for all lanes
    proxy::FilterTable filters;
    proxy::TransactionRecords records;
    server::ServerState state;
    server::ServerState admin_state;
    std::optional<server::Listeners> listeners;
    std::vector<std::unique_ptr<Lane>> lanes;
    std::unique_ptr<DaemonSource> source;  // the admin pages, on the first lane
    std::unique_ptr<server::AdminSite> admin_site;
    std::unique_ptr<server::Server> admin_server;
    config::Endpoint admin_endpoint;
    std::unique_ptr<runtime::TaskGroup> reloading;  // likewise
    std::size_t descriptors = 0;                    // that the process may have
    std::size_t descriptors_in_use = 0;             // for good
    std::uint64_t latest_reload = 0;  // its number: one that waits gives way to a later one
    int exit_code = 0;
    bool ending_now = false;      // by a second signal
    bool left_suspended = false;  // requests that a cut did not end: they wait for an upstream
};

}  // namespace weir::app
