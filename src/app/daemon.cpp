#include "app/daemon.hpp"

#include "app/admin_source.hpp"
#include "app/chains.hpp"
#include "app/cpus.hpp"
#include "app/reload.hpp"
#include "app/version.hpp"
#include "config/difference.hpp"
#include "proxy/account.hpp"
#include "proxy/filter_table.hpp"
#include "proxy/handler.hpp"
#include "proxy/transaction_records.hpp"
#include "routing/methods.hpp"
#include "runtime/event.hpp"
#include "runtime/task_group.hpp"
#include "server/rpc_site.hpp"
#include "server/server.hpp"
#include "server/tls.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "upstream/http_transport.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>

namespace weir::app {
namespace {

namespace net = boost::asio;
using Tls = std::shared_ptr<const server::ListenerTls>;

telemetry::MetricsLayout metrics_layout() {
    telemetry::MetricsLayout layout;
    layout.methods.emplace_back("other");
    for (std::size_t number = 1; number < routing::method_count(); ++number) {
        layout.methods.emplace_back(routing::method_at(number).name);
    }
    for (std::size_t cause = 0; cause < routing::kCauses; ++cause) {
        layout.causes.emplace_back(routing::to_string(static_cast<routing::Cause>(cause)));
    }
    layout.outcomes = proxy::outcome_names();
    layout.version = std::string(version());
    return layout;
}

// The last words on transactions that are on their way when the program ends: no successor knows
// of them, so whoever sent one has to look it up by its hash.
void tell_pending(telemetry::Log& log, const proxy::TransactionRecords& records,
                  const proxy::Serving& serving) {
    for (const proxy::TransactionRecords::View& write : records.pending()) {
        const auto chain = std::find_if(
            serving.chains.begin(), serving.chains.end(),
            [&write](const auto& each) { return each->identity.chain == write.chain; });
        const auto sent = std::find_if(write.events.rbegin(), write.events.rend(),
                                       [](const auto& each) { return each.event == "sent"; });
        const bool may_have_arrived = sent != write.events.rend();
        const auto outcome =
            may_have_arrived ? proxy::WriteOutcome::unknown : proxy::WriteOutcome::rejected;
        log.write(config::LogLevel::warn, "broadcast",
                  {{"chain", chain != serving.chains.end() ? (*chain)->config.name : ""},
                   {"transaction", write.hash},
                   {"outcome", proxy::to_string(outcome)},
                   {"upstream", may_have_arrived ? sent->upstream : ""}});
    }
}

// Everything that one thread serves with.
struct Lane {
    Lane(unsigned index, runtime::Clock& clock, runtime::Random& random,
         runtime::MemoryBudget& budget)
        : worker(index, clock, random, budget), work(worker.io.get_executor()) {}

    runtime::Worker worker;
    net::executor_work_guard<runtime::Executor> work;  // run() returns at stop() only
    std::unique_ptr<upstream::HttpTransport> transport;
    std::unique_ptr<proxy::Services> services;
    std::unique_ptr<proxy::Handler> handler;
    std::unique_ptr<server::RpcSite> site;
    std::unique_ptr<server::Server> server;
};

}  // namespace

// Members are built in this order and destroyed in the reverse one.
struct Daemon::Impl {
    Impl(config::Config settings, ConfigLoader loader)
        : config(std::move(settings)),
          load_again(std::move(loader)),
          secrets(config.secrets),
          log(std::make_unique<telemetry::Log>(config.log, config.secrets)),
          metrics(metrics_layout()),
          budget(config.server.max_buffered),
          chains(clock, metrics, *log),
          state(server::settings_of(config.server)),
          admin_state(server::admin_settings(config.server)) {}

    core::Result<void> build();
    void build_lane(unsigned index);
    void announce();
    ReloadReport reload(std::string_view trigger);
    ReloadReport try_reload();
    void adopt(Chains::Staged staged, config::Config next, Tls tls);
    runtime::Task<> adopt_when_ready(Chains::Staged staged, config::Config next, Tls tls);
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
    bool reload_under_way = false;
    int exit_code = 0;
    bool ending_now = false;      // by a second signal
    bool left_suspended = false;  // requests that a cut did not end: they wait for an upstream
};

core::Result<void> Daemon::Impl::build() {
    const unsigned threads = config.server.threads != 0 ? config.server.threads : usable_cpus();
    core::Result<server::Listeners> opened = server::Listeners::open(config.server.listen, threads);
    if (!opened) {
        return opened.error();
    }
    core::Result<server::Listeners> admin = server::Listeners::open({config.admin.listen}, 1);
    if (!admin) {
        return admin.error();
    }
    listeners.emplace(std::move(*opened));
    admin_endpoint = admin->endpoints().front();
    auto tls = server::ListenerTls::create(config.server.tls);
    if (!tls) {
        return tls.error();
    }
    state.apply(server::settings_of(config.server, std::move(*tls)));
    const core::Result<void> built = chains.open(config);
    if (!built) {
        return built.error();
    }
    for (unsigned index = 0; index < threads; ++index) {
        build_lane(index);
    }
    Lane& first = *lanes.front();
    source = std::make_unique<DaemonSource>(chains.serving(), records, observations, unrouted,
                                            metrics, state, clock, *log, std::string(version()),
                                            [this] { return reload("/api/reload"); });
    const server::Reach reach =
        admin_endpoint.is_loopback() ? server::Reach::loopback : server::Reach::network;
    admin_site = std::make_unique<server::AdminSite>(config.admin.token, reach, *source);
    admin_server =
        std::make_unique<server::Server>(first.worker, admin_state, *admin_site, admin->take(0));
    reloading = std::make_unique<runtime::TaskGroup>(first.worker.io);
    return {};
}

void Daemon::Impl::build_lane(unsigned index) {
    auto lane = std::make_unique<Lane>(index, clock, random, budget);
    lane->transport =
        std::make_unique<upstream::HttpTransport>(lane->worker, chains.destinations());
    lane->services = std::make_unique<proxy::Services>(proxy::Services{
        lane->worker, *lane->transport, *log, metrics, secrets, observations, unrouted});
    lane->services->correlation_key = config.log.correlation_key.reveal();
    lane->handler =
        std::make_unique<proxy::Handler>(chains.serving(), *lane->services, filters, records);
    lane->site = std::make_unique<server::RpcSite>(state, *lane->handler);
    lane->server =
        std::make_unique<server::Server>(lane->worker, state, *lane->site, listeners->take(index));
    lanes.push_back(std::move(lane));
}

void Daemon::Impl::announce() {
    for (const config::Endpoint& endpoint : listeners->endpoints()) {
        log->write(config::LogLevel::info, "listening",
                   {{"rpc", endpoint.to_string()},
                    {"admin", admin_endpoint.to_string()},
                    {"threads", static_cast<std::uint64_t>(lanes.size())},
                    {"version", version()}});
    }
}

// Reads the configuration again and takes it up, all or nothing.
ReloadReport Daemon::Impl::reload(std::string_view trigger) {
    ReloadReport report = try_reload();
    log_reload(*log, report, trigger);
    return report;
}

ReloadReport Daemon::Impl::try_reload() {
    if (state.draining() || reload_under_way) {
        ReloadReport report =
            refused({{"", state.draining() ? "weir is ending" : "a reload is under way"}});
        report.end = ReloadReport::End::busy;
        return report;
    }
    if (!load_again) {
        return refused({{"", "there is no file to read: weir was started without --config"}});
    }
    config::LoadResult next = load_again();
    if (!next) {
        return refused(next.error());
    }
    std::vector<config::Problem> fixed = config::changes_of_fixed_keys(config, *next);
    if (!fixed.empty()) {
        return refused(std::move(fixed));
    }
    auto tls = server::ListenerTls::create(next->server.tls);  // the files may be others
    if (!tls) {
        return refused({{"", tls.error().message}});
    }
    // Before anything of it can be told.
    log->apply(config.log, next->secrets);
    secrets.add(next->secrets);
    const config::Difference difference = config::compare(config, *next);
    core::Result<Chains::Staged> staged = chains.stage(config, *next, difference);
    if (!staged) {
        return refused({{"", staged.error().message}});
    }
    ReloadReport report = report_of(config, *next, difference);
    if (chains.loses_nothing(*staged)) {
        adopt(std::move(*staged), std::move(*next), std::move(*tls));
    } else {
        report.waiting = true;
        reload_under_way = true;
        reloading->spawn(adopt_when_ready(std::move(*staged), std::move(*next), std::move(*tls)));
    }
    return report;
}

// A chain whose upstreams are all new is served by the old ones until the new ones are known.
runtime::Task<> Daemon::Impl::adopt_when_ready(Chains::Staged staged, config::Config next,
                                               Tls tls) {
    constexpr auto kLook = std::chrono::milliseconds(20);
    constexpr auto kPatience = std::chrono::seconds(10);
    co_await net::this_coro::throw_if_cancelled(false);
    const core::TimePoint last = clock.now() + kPatience;
    while (!chains.loses_nothing(staged) && clock.now() < last && !state.draining()) {
        const core::TimePoint look = clock.now() + kLook;
        co_await runtime::sleep_until(lanes.front()->worker.io, look);
    }
    adopt(std::move(staged), std::move(next), std::move(tls));
    reload_under_way = false;
}

void Daemon::Impl::adopt(Chains::Staged staged, config::Config next, Tls tls) {
    config = std::move(next);
    log->apply(config.log, {});
    budget.set_limit(config.server.max_buffered);
    state.apply(server::settings_of(config.server, std::move(tls)));
    admin_state.apply(server::admin_settings(config.server));
    admin_site->set_token(config.admin.token);
    chains.adopt(std::move(staged));
    on_every_lane([key = std::string(config.log.correlation_key.reveal())](Lane& lane) {
        lane.services->correlation_key = key;
        lane.handler->refresh();
    });
}

void Daemon::Impl::on_every_lane(const std::function<void(Lane&)>& action) {
    for (const std::unique_ptr<Lane>& lane : lanes) {
        net::post(lane->worker.io, [action, target = lane.get()] { action(*target); });
    }
}

// Runs on the first lane; the others' connections are counted by what all of them share.
runtime::Task<bool> Daemon::Impl::every_lane_drained(core::TimePoint deadline) {
    constexpr auto kLook = std::chrono::milliseconds(10);
    while (state.connections.taken() != 0) {
        if (clock.now() >= deadline) {
            co_return false;
        }
        const core::TimePoint next = clock.now() + kLook;
        co_await runtime::sleep_until(lanes.front()->worker.io, next);
    }
    co_return true;
}

runtime::Task<> Daemon::Impl::watch_signals(runtime::Event& told_to_stop) {
    using Signals = net::basic_signal_set<runtime::Executor>;
    Signals signals(lanes.front()->worker.io.get_executor(), SIGTERM, SIGINT, SIGHUP);
    for (int count = 1;;) {
        const auto [error, number] = co_await signals.async_wait(net::as_tuple(net::deferred));
        if (error) {
            co_return;
        }
        if (number == SIGHUP) {
            const ReloadReport report = reload("SIGHUP");
            static_cast<void>(report);
            continue;
        }
        if (count++ > 1) {
            log->write(config::LogLevel::warn, "second signal: ending now",
                       {{"requests", static_cast<std::uint64_t>(state.in_flight.taken())}});
            ending_now = true;
            stop_lanes();
            co_return;
        }
        log->write(config::LogLevel::info, "draining",
                   {{"signal", static_cast<std::int64_t>(number)}});
        told_to_stop.set();
    }
}

// The daemon's life on its first lane: serve, be told to stop, drain, stop.
runtime::Task<> Daemon::Impl::live() {
    runtime::Worker& worker = lanes.front()->worker;
    runtime::Event told_to_stop(worker.io);
    runtime::TaskGroup background(worker.io);
    background.spawn(watch_signals(told_to_stop));
    chains.start(worker, *lanes.front()->transport);
    admin_server->start();
    on_every_lane([](Lane& lane) { lane.server->start(); });
    announce();
    co_await told_to_stop.wait();

    const core::TimePoint told = clock.now();
    state.begin_drain();
    const core::TimePoint closing = told + config.server.drain_delay;
    co_await runtime::sleep_until(worker.io, closing);
    on_every_lane([](Lane& lane) {
        lane.server->stop_accepting();
        lane.server->close_idle();
    });
    const core::TimePoint last = closing + config.server.drain_timeout;
    const bool drained = co_await every_lane_drained(last);
    if (!drained) {
        log->write(config::LogLevel::warn, "drain timeout: cutting what still runs",
                   {{"connections", static_cast<std::uint64_t>(state.connections.taken())}});
        exit_code = 1;
        on_every_lane([](Lane& lane) { lane.server->cut(); });
        const core::TimePoint moment = clock.now() + std::chrono::seconds(1);
        const bool ended = co_await every_lane_drained(moment);
        left_suspended = !ended;
    }
    reloading->cancel();
    co_await reloading->join();
    co_await chains.stop();
    admin_server->stop_accepting();
    admin_server->cut();
    const core::TimePoint admin_moment = clock.now() + std::chrono::seconds(1);
    const bool admin_cut = co_await admin_server->drained(admin_moment);
    static_cast<void>(admin_cut);
    background.cancel();
    co_await background.join();
    log->write(config::LogLevel::info, "stopped",
               {{"exit_code", static_cast<std::int64_t>(exit_code)}});
    stop_lanes();
}

void Daemon::Impl::stop_lanes() {
    for (const std::unique_ptr<Lane>& lane : lanes) {
        lane->worker.io.stop();
    }
}

int Daemon::Impl::run() {
    runtime::TaskGroup life(lanes.front()->worker.io);
    life.spawn(live());
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < lanes.size(); ++i) {
        threads.emplace_back([lane = lanes[i].get()] { lane->worker.io.run(); });
    }
    lanes.front()->worker.io.run();
    threads.clear();
    if (ending_now || left_suspended) {
        tell_pending(*log, records, *chains.serving().get());
        // What is still suspended cannot be taken down in order; the log can.
        log.reset();
        std::_Exit(1);
    }
    return exit_code;
}

Daemon::Daemon(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Daemon::~Daemon() = default;

core::Result<std::unique_ptr<Daemon>> Daemon::create(config::Config config,
                                                     ConfigLoader load_again) {
    auto impl = std::make_unique<Impl>(std::move(config), std::move(load_again));
    const core::Result<void> built = impl->build();
    if (!built) {
        return built.error();
    }
    return std::unique_ptr<Daemon>(new Daemon(std::move(impl)));
}

const std::vector<config::Endpoint>& Daemon::rpc_endpoints() const {
    return impl_->listeners->endpoints();
}

const config::Endpoint& Daemon::admin_endpoint() const { return impl_->admin_endpoint; }

int Daemon::run() { return impl_->run(); }

}  // namespace weir::app
