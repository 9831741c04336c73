#include "app/admin_source.hpp"

#include "core/text.hpp"
#include "routing/chain_state.hpp"
#include "server/clients_json.hpp"
#include "server/disagreements_json.hpp"
#include "server/json_writer.hpp"
#include "server/observations_json.hpp"
#include "server/status_json.hpp"
#include "server/transaction_json.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace weir::app {
namespace {

// One that a call could go to at this moment; one that rests for a while is none.
bool has_fit_upstream(const proxy::ChainContext& chain) {
    const auto snapshot = chain.pool.snapshots().get();
    return std::any_of(snapshot->upstreams.begin(), snapshot->upstreams.end(),
                       [](const auto& each) {
                           return each.state == routing::UpstreamState::fit && !each.in_doubt;
                       });
}

}  // namespace

DaemonSource::DaemonSource(const core::Published<proxy::Serving>& serving,
                           const proxy::TransactionRecords& records,
                           const proxy::Observations& observations,
                           const upstream::RecentTraffic& unrouted, telemetry::Metrics& metrics,
                           const server::ServerState& state, const runtime::Clock& clock,
                           telemetry::Log& log, std::string version,
                           std::function<ReloadReport()> reload)
    : serving_(serving),
      records_(records),
      observations_(observations),
      unrouted_(unrouted),
      metrics_(metrics),
      state_(state),
      clock_(clock),
      log_(log),
      version_(std::move(version)),
      reload_(std::move(reload)),
      started_(clock.now()) {}

bool DaemonSource::ready(std::optional<std::string_view> chain) {
    if (state_.draining()) {
        return false;
    }
    const Chains all = chains();
    return std::any_of(all.begin(), all.end(), [&](const auto& each) {
        return chain ? each->config.name == *chain && has_fit_upstream(*each)
                     : each->pool.has_been_fit();
    });
}

std::string DaemonSource::metrics() {
    const core::TimePoint now = clock_.now();
    telemetry::Gauges gauges;
    for (const auto& each : chains()) {
        telemetry::Gauges::Chain& chain = gauges.chains.emplace_back();
        chain.name = each->config.name;
        const auto snapshot = each->pool.snapshots().get();
        chain.head = snapshot->head ? snapshot->head->number : 0;
        for (const upstream::UpstreamStatus& status : each->pool.status(now)) {
            chain.upstreams.push_back(
                {.name = status.name,
                 .head = status.head ? status.head->number : 0,
                 .head_lag = status.lag_blocks,
                 .fit = status.state == routing::UpstreamState::fit,
                 .state = routing::to_string(status.state),
                 .allowance_used = server::allowance_used(status).value_or(0),
                 .score = status.score,
                 .apart = status.apart,
                 .cooldown_seconds = std::chrono::duration<double>(status.cooldown).count(),
                 .probe_units = status.probe_units});
        }
    }
    gauges.connections = state_.connections.taken();
    gauges.in_flight = state_.in_flight.taken();
    gauges.log_lines_lost = log_.dropped();
    return metrics_.render(gauges);
}

std::string DaemonSource::status_json() {
    const core::TimePoint now = clock_.now();
    server::DaemonStatus status{.version = version_,
                                .uptime = now - started_,
                                .draining = state_.draining(),
                                .chains = {},
                                .unknown_writes = {},
                                .unrouted = unrouted_.list(now)};
    const Chains all = chains();
    for (const auto& each : all) {
        const auto snapshot = each->pool.snapshots().get();
        const upstream::RecentTraffic::Latest latest = each->pool.traffic().latest(now);
        status.chains.push_back(
            {.name = each->config.name,
             .chain_id = each->config.chain_id,
             .state = routing::told_state(*snapshot, {latest.met.calls, latest.met.failed}),
             .head = snapshot->head,
             .head_age = now - snapshot->head_at,
             .settled = snapshot->settled,
             .block_time = snapshot->block_time,
             .upstreams = each->pool.status(now),
             .in_flight = each->pool.calls_in_flight().look(now),
             .recent = each->pool.traffic().list(now),
             .latest = latest,
             .over_own_rate = each->pool.own_rates().list(now)});
    }
    constexpr std::size_t kMostWrites = 20;
    const auto name_of = [&all](std::size_t chain) {
        const auto of = std::find_if(all.begin(), all.end(), [chain](const auto& each) {
            return each->identity.chain == chain;
        });
        return of != all.end() ? (*of)->config.name : "";
    };
    for (const proxy::TransactionRecords::View& write : records_.unknown(kMostWrites)) {
        status.unknown_writes.push_back(
            {.chain = name_of(write.chain),
             .hash = write.hash,
             .at = write.events.empty() ? core::WallTime{} : write.events.back().at});
    }
    for (const proxy::TransactionRecords::Unnamed& write : records_.unnamed(now)) {
        status.unknown_writes.push_back({.chain = name_of(write.chain),
                                         .hash = {},
                                         .at = write.at,
                                         .method = write.method,
                                         .upstream = write.upstream});
    }
    std::stable_sort(status.unknown_writes.begin(), status.unknown_writes.end(),
                     [](const auto& a, const auto& b) { return a.at > b.at; });
    if (status.unknown_writes.size() > kMostWrites) {
        status.unknown_writes.resize(kMostWrites);
    }
    return server::status_json(status);
}

std::optional<std::string> DaemonSource::transaction_json(std::string_view hash) {
    const auto found = records_.find(core::to_lower(hash));
    return found ? std::optional(server::transaction_json(*found)) : std::nullopt;
}

std::string DaemonSource::observations_json() {
    return server::observations_json(observations_.list(), observations_.forgotten());
}

std::string DaemonSource::disagreements_json() {
    std::vector<server::ChainDisagreements> all;
    for (const auto& each : chains()) {
        server::ChainDisagreements& of = all.emplace_back();
        of.chain = each->config.name;
        for (const config::Upstream& upstream : each->config.upstreams) {
            of.upstreams.push_back(upstream.name);
        }
        of.kept = each->pool.disagreements();
    }
    return server::disagreements_json(all, clock_.now(), clock_.wall_now());
}

std::string DaemonSource::clients_json() {
    const auto serving = serving_.get();
    const std::vector<telemetry::ClientUsage> usage = metrics_.usage();
    std::vector<server::ClientReport> reports;
    for (const proxy::Client& client : serving->clients) {
        server::ClientReport& report = reports.emplace_back();
        report.name = client.name;
        report.calls_per_second = client.rate.calls_per_second;
        report.burst = client.rate.burst;
        report.in_flight = client.state->in_flight;
        for (const telemetry::ClientUsage& of : usage) {
            if (of.client == client.name) {
                report.usage.push_back(&of);
            }
        }
    }
    return server::clients_json(reports, metrics_.outcomes());
}

server::AdminSource::Outcome DaemonSource::reload() {
    const ReloadReport report = reload_();
    return {report.status(), to_json(report)};
}

std::optional<std::string> DaemonSource::set_service(std::string_view chain,
                                                     std::string_view upstream, Service service) {
    for (const auto& each : chains()) {
        const std::vector<config::Upstream>& all = each->config.upstreams;
        const auto found = std::find_if(
            all.begin(), all.end(), [upstream](const auto& one) { return one.name == upstream; });
        if (each->config.name != chain || found == all.end()) {
            continue;
        }
        const auto index = static_cast<routing::UpstreamIndex>(found - all.begin());
        const bool drains = service == Service::drain;
        if (drains) {
            each->pool.drain(index, clock_.now());
        } else {
            each->pool.resume(index, clock_.now());
        }
        log_.write(config::LogLevel::info, drains ? "upstream drained" : "upstream resumed",
                   {{"chain", chain}, {"upstream", upstream}});
        server::JsonWriter out;
        out.open('{');
        out.key("chain");
        out.value(chain);
        out.key("upstream");
        out.value(upstream);
        out.key("state");
        out.value(routing::to_string(each->pool.snapshots().get()->upstreams[index].state));
        out.close('}');
        return out.take();
    }
    return std::nullopt;
}

}  // namespace weir::app
