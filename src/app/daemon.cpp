#include "app/daemon.hpp"

#include "app/cpus.hpp"
#include "app/daemon_impl.hpp"
#include "app/descriptors.hpp"
#include "app/version.hpp"
#include "proxy/account.hpp"
#include "routing/methods.hpp"
#include "telemetry/process_stats.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

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

// What came before there was somebody to take it up is told now.
void listen_to_held_signals() {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGHUP);
    pthread_sigmask(SIG_UNBLOCK, &held, nullptr);
}

}  // namespace

Daemon::Impl::Impl(config::Config settings, ConfigLoader loader)
    : config(std::move(settings)),
      load_again(std::move(loader)),
      secrets(config.secrets),
      log(std::make_unique<telemetry::Log>(config.log, config.secrets)),
      metrics(metrics_layout()),
      budget(config.server.max_buffered),
      chains(clock, metrics, *log),
      state(server::settings_of(config.server)),
      admin_state(server::admin_settings(config.server)),
      descriptors(raise_descriptor_limit()) {}

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
        return core::Error{config::to_string(tls.error())};
    }
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
    descriptors_in_use = telemetry::read_process_stats().open_fds;
    state.apply(rpc_settings(std::move(*tls)));
    return {};
}

// As configured, within what the descriptors allow.
std::shared_ptr<const server::Settings> Daemon::Impl::rpc_settings(Tls tls) {
    const DescriptorShares shares = share_descriptors(descriptors, descriptors_in_use, config);
    config::Server settings = config.server;
    settings.max_connections = shares.clients;
    if (shares.clients < config.server.max_connections) {
        log->write(config::LogLevel::warn,
                   "the descriptors allow fewer client connections than server.max_connections",
                   {{"max_connections", std::uint64_t{config.server.max_connections}},
                    {"connections", std::uint64_t{shares.clients}},
                    {"descriptors", std::uint64_t{descriptors}}});
    }
    state.turned_away.set_limit(shares.turned_away);
    return server::settings_of(settings, std::move(tls));
}

void Daemon::Impl::build_lane(unsigned index) {
    auto lane = std::make_unique<Lane>(index, clock, random, budget);
    upstream::TransportSettings transport;
    transport.descriptors_below =
        static_cast<int>(descriptors - std::min(descriptors, own_descriptors(descriptors)));
    lane->transport = std::make_unique<upstream::HttpTransport>(lane->worker, chains.destinations(),
                                                                std::move(transport));
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
    listen_to_held_signals();
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
