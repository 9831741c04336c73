// How a chain stands, as people are told. Pure.
#pragma once

#include "routing/snapshot.hpp"

#include <cstdint>

namespace weir::routing {

// What became of the calls that ended in the last seconds.
struct RecentCalls {
    std::uint64_t calls = 0;
    std::uint64_t failed = 0;
};

// Where circuits alone stand in the way the least bad upstream is asked, and the chain is degraded;
// but down if that serves nobody, or nobody has asked for anything that it might have served.
ChainState told_state(const RoutingSnapshot& pool, const RecentCalls& recent);

}  // namespace weir::routing
