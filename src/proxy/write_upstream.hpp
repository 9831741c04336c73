// The one upstream that takes a chain's writes and its reads of `pending`, so that nonces follow
// broadcasts.
#pragma once

#include "core/time.hpp"
#include "proxy/chain_context.hpp"
#include "routing/select.hpp"

#include <variant>

namespace weir::proxy {

// The one kept so far while it can serve and was not tried; else the best one of the lowest tier,
// which is then kept.
std::variant<routing::UpstreamIndex, routing::NoUpstream> write_upstream(
    ChainContext& chain, const routing::RoutingSnapshot& pool, const routing::Need& need,
    const routing::Tried& tried, core::TimePoint now);

}  // namespace weir::proxy
