#include "app/admin_source.hpp"

#include "core/text.hpp"
#include "server/disagreements_json.hpp"
#include "server/json_writer.hpp"
#include "server/observations_json.hpp"
#include "server/status_json.hpp"
#include "server/transaction_json.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace weir::app {

DaemonSource::DaemonSource(const Pools& pools, const proxy::TransactionRecords& records,
                           const proxy::Observations& observations, telemetry::Metrics& metrics,
                           const server::ServerState& state, const runtime::Clock& clock,
                           telemetry::Log& log, std::string version)
    : pools_(pools),
      records_(records),
      observations_(observations),
      metrics_(metrics),
      state_(state),
      clock_(clock),
      log_(log),
      version_(std::move(version)),
      started_(clock.now()) {}

bool DaemonSource::ready(std::optional<std::string_view> chain) {
    if (state_.draining()) {
        return false;
    }
    return std::any_of(pools_.begin(), pools_.end(), [&](const auto& pool) {
        return chain ? pool->chain().name == *chain && pool->is_fit_now() : pool->has_been_fit();
    });
}

std::string DaemonSource::metrics() {
    const core::TimePoint now = clock_.now();
    telemetry::Gauges gauges;
    for (const auto& pool : pools_) {
        telemetry::Gauges::Chain& chain = gauges.chains.emplace_back();
        const auto snapshot = pool->snapshots().get();
        chain.head = snapshot->head ? snapshot->head->number : 0;
        for (const upstream::UpstreamStatus& status : pool->status(now)) {
            chain.upstreams.push_back(
                {.head = status.head ? status.head->number : 0,
                 .head_lag = status.lag_blocks,
                 .fit = status.state == routing::UpstreamState::fit,
                 .state = routing::to_string(status.state),
                 .allowance_used = server::allowance_used(status).value_or(0),
                 .score = status.score,
                 .cooldown_seconds = std::chrono::duration<double>(status.cooldown).count(),
                 .probe_units = status.probe_units});
        }
    }
    gauges.connections = state_.connections.taken();
    gauges.in_flight = state_.in_flight.taken();
    return metrics_.render(gauges);
}

std::string DaemonSource::status_json() {
    const core::TimePoint now = clock_.now();
    server::DaemonStatus status{
        .version = version_, .uptime = now - started_, .chains = {}, .unknown_writes = {}};
    for (const auto& pool : pools_) {
        const auto snapshot = pool->snapshots().get();
        status.chains.push_back({.name = pool->chain().name,
                                 .chain_id = pool->chain().chain_id,
                                 .state = snapshot->state,
                                 .head = snapshot->head,
                                 .head_age = now - snapshot->head_at,
                                 .settled = snapshot->settled,
                                 .block_time = snapshot->block_time,
                                 .upstreams = pool->status(now),
                                 .recent = pool->traffic().list(now)});
    }
    constexpr std::size_t kMostWrites = 20;
    for (const proxy::TransactionRecords::View& write : records_.unknown(kMostWrites)) {
        status.unknown_writes.push_back(
            {.chain = write.chain < pools_.size() ? pools_[write.chain]->chain().name : "",
             .hash = write.hash,
             .at = write.events.empty() ? core::WallTime{} : write.events.back().at});
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
    std::vector<server::ChainDisagreements> chains;
    for (const auto& pool : pools_) {
        server::ChainDisagreements& of = chains.emplace_back();
        of.chain = pool->chain().name;
        for (const config::Upstream& upstream : pool->chain().upstreams) {
            of.upstreams.push_back(upstream.name);
        }
        of.kept = pool->disagreements();
    }
    return server::disagreements_json(chains, clock_.now(), clock_.wall_now());
}

std::optional<std::string> DaemonSource::set_service(std::string_view chain,
                                                     std::string_view upstream, Service service) {
    for (const auto& pool : pools_) {
        const std::vector<config::Upstream>& all = pool->chain().upstreams;
        const auto found = std::find_if(
            all.begin(), all.end(), [upstream](const auto& each) { return each.name == upstream; });
        if (pool->chain().name != chain || found == all.end()) {
            continue;
        }
        const auto index = static_cast<routing::UpstreamIndex>(found - all.begin());
        const bool drains = service == Service::drain;
        if (drains) {
            pool->drain(index, clock_.now());
        } else {
            pool->resume(index, clock_.now());
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
        out.value(routing::to_string(pool->snapshots().get()->upstreams[index].state));
        out.close('}');
        return out.take();
    }
    return std::nullopt;
}

}  // namespace weir::app
