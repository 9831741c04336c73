#include "proxy/write_upstream.hpp"

namespace weir::proxy {

std::variant<routing::UpstreamIndex, routing::NoUpstream> write_upstream(
    ChainContext& chain, const routing::RoutingSnapshot& pool, const routing::Need& need,
    const routing::Tried& tried, core::TimePoint now) {
    const std::size_t kept = chain.write_upstream.load(std::memory_order_relaxed);
    const auto picked = routing::select_kept(pool, need, tried, kept, now);
    if (const auto* upstream = std::get_if<routing::UpstreamIndex>(&picked)) {
        chain.write_upstream.store(*upstream, std::memory_order_relaxed);
    }
    return picked;
}

}  // namespace weir::proxy
