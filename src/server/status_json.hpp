// The JSON of /api/status. Pure.
#pragma once

#include "chain/observation.hpp"
#include "core/time.hpp"
#include "routing/snapshot.hpp"
#include "upstream/pool.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::server {

struct ChainStatus {
    std::string name;
    std::uint64_t chain_id = 0;
    routing::ChainState state = routing::ChainState::down;
    std::optional<chain::BlockId> head;
    core::Duration head_age{};
    chain::Settled settled;
    core::Duration block_time{};
    std::vector<upstream::UpstreamStatus> upstreams;
    upstream::CallsInFlight::Seen in_flight;
    std::vector<upstream::RecentTraffic::Step> recent;
    upstream::RecentTraffic::Latest latest;
    std::vector<upstream::OwnRates::Client> over_own_rate;
};

struct UnknownWrite {
    std::string chain;
    std::string hash;   // empty: it has none, only what it was and who got it is known
    core::WallTime at;  // of the latest event
    std::string method = {};
    std::string upstream = {};
};

struct DaemonStatus {
    std::string version;
    core::Duration uptime{};
    bool draining = false;
    std::vector<ChainStatus> chains;
    std::vector<UnknownWrite> unknown_writes = {};
    // Requests that were refused before it was known for which chain they were.
    std::vector<upstream::RecentTraffic::Step> unrouted = {};
};

// The share of the daily allowance that is spent, 0 to 1; nothing where there is none.
std::optional<double> allowance_used(const upstream::UpstreamStatus& status);

std::string status_json(const DaemonStatus& status);

}  // namespace weir::server
