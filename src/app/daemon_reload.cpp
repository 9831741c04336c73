// Taking up a new configuration while everything runs.
#include "app/daemon_impl.hpp"
#include "config/difference.hpp"

#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace weir::app {
namespace net = boost::asio;

// Reads the configuration again and takes it up, all or nothing.
ReloadReport Daemon::Impl::reload(std::string_view trigger) {
    ReloadReport report = try_reload();
    log_reload(*log, report, trigger);
    return report;
}

ReloadReport Daemon::Impl::try_reload() {
    if (state.draining()) {
        ReloadReport report = refused({{"", "weir is ending"}});
        report.end = ReloadReport::End::ending;
        return report;
    }
    if (!load_again) {
        return refused({{"", "there is no file to read: weir was started without --config"}});
    }
    config::LoadResult next = load_again();
    if (!next) {
        return refused(next.error());
    }
    std::vector<config::Problem> fixed = config::changes_that_need_a_restart(config, *next);
    if (!fixed.empty()) {
        return refused(std::move(fixed));
    }
    auto tls = server::ListenerTls::create(next->server.tls);  // the files may be others
    if (!tls) {
        return refused({tls.error()});
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
    Prepared prepared{std::move(*staged), std::move(*next), std::move(*tls)};
    const std::uint64_t number = ++latest_reload;
    report.waiting = !chains.lost(prepared.chains).empty();
    if (report.waiting) {
        reloading->spawn(adopt_when_ready(std::move(prepared), number));
    } else {
        adopt(std::move(prepared));
    }
    return report;
}

// A chain whose upstreams are all new is served by the old ones until the new ones are known.
// Whoever reloads again meanwhile has the last word.
runtime::Task<> Daemon::Impl::adopt_when_ready(Prepared next, std::uint64_t number) {
    constexpr auto kLook = std::chrono::milliseconds(20);
    constexpr auto kPatience = std::chrono::seconds(10);
    co_await net::this_coro::throw_if_cancelled(false);
    const core::TimePoint last = clock.now() + kPatience;
    const auto is_latest = [this, number] { return number == latest_reload && !state.draining(); };
    while (is_latest() && !chains.lost(next.chains).empty() && clock.now() < last) {
        const core::TimePoint look = clock.now() + kLook;
        co_await runtime::sleep_until(lanes.front()->worker.io, look);
    }
    if (!is_latest()) {
        chains.discard(std::move(next.chains));
        log->write(
            config::LogLevel::warn, "waiting configuration given up",
            {{"reason", state.draining() ? "weir is ending" : "a later reload replaces it"}});
        co_return;
    }
    const std::vector<std::string> lost = chains.lost(next.chains);
    adopt(std::move(next));
    for (const std::string& chain : lost) {
        log->write(config::LogLevel::warn,
                   "configuration in effect: none of the chain's new upstreams is fit",
                   {{"chain", chain}, {"waited_seconds", std::int64_t{kPatience.count()}}});
    }
    if (lost.empty()) {
        log->write(config::LogLevel::info, "configuration in effect", {});
    }
}

void Daemon::Impl::adopt(Prepared next) {
    config = std::move(next.config);
    log->apply(config.log, {});
    budget.set_limit(config.server.max_buffered);
    state.apply(rpc_settings(std::move(next.tls)));
    admin_state.apply(server::admin_settings(config.server));
    admin_site->set_token(config.admin.token);
    chains.adopt(std::move(next.chains), config);
    on_every_lane([key = std::string(config.log.correlation_key.reveal())](Lane& lane) {
        lane.services->correlation_key = key;
        lane.handler->refresh();
    });
}

}  // namespace weir::app
