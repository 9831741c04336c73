#include "routing/chain_state.hpp"

#include <algorithm>

namespace weir::routing {
namespace {

// May it answer a call well, though perhaps not at once and not the newest?
bool may_serve(const UpstreamView& upstream) {
    return (upstream.state == UpstreamState::fit && !upstream.in_doubt) ||
           (upstream.identified && (upstream.state == UpstreamState::lagging ||
                                    upstream.state == UpstreamState::cooling_down));
}

}  // namespace

ChainState told_state(const RoutingSnapshot& pool, const RecentCalls& recent) {
    const bool least_bad_only =
        pool.state == ChainState::degraded &&
        std::none_of(pool.upstreams.begin(), pool.upstreams.end(), may_serve);
    const bool serves = recent.calls > 0 && recent.failed == 0;
    return least_bad_only && !serves ? ChainState::down : pool.state;
}

}  // namespace weir::routing
