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
    std::vector<upstream::UpstreamStatus> upstreams;
};

struct DaemonStatus {
    std::string version;
    core::Duration uptime{};
    std::vector<ChainStatus> chains;
};

std::string status_json(const DaemonStatus& status);

}  // namespace weir::server
