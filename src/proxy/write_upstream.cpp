#include "proxy/write_upstream.hpp"

namespace weir::proxy {

std::optional<routing::UpstreamIndex> write_upstream(ChainContext& chain,
                                                     const routing::RoutingSnapshot& pool,
                                                     const routing::Need& need,
                                                     const routing::Tried& tried,
                                                     core::TimePoint now) {
    const std::size_t kept = chain.write_upstream.load(std::memory_order_relaxed);
    if (kept < pool.upstreams.size() && !tried.test(kept) &&
        routing::can_serve(pool.upstreams[kept], need, now)) {
        return kept;
    }
    const std::optional<routing::UpstreamIndex> best = routing::best(pool, need, tried, now);
    if (best) {
        chain.write_upstream.store(*best, std::memory_order_relaxed);
    }
    return best;
}

}  // namespace weir::proxy
