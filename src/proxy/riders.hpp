// Which calls of a batch go in arrays with others, and which upstreams may be asked for them.
#pragma once

#include "core/time.hpp"
#include "proxy/call_runner.hpp"
#include "proxy/plan.hpp"
#include "routing/batch_plan.hpp"
#include "routing/select.hpp"
#include "routing/snapshot.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace weir::proxy {

bool may_ride(const RequestScope& scope, const CallPlan& plan);

// The calls at `riders`, by the upstreams that are fit for them, but for those `tried`: most
// batches have few kinds.
std::vector<routing::BatchKind> kinds_of(const RequestScope& scope, std::span<const CallPlan> plans,
                                         std::span<const std::size_t> riders,
                                         const routing::Tried& tried, core::TimePoint now);

// Could another upstream be asked for a call that is under way at one?
bool has_another(const ChainContext& chain, const routing::RoutingSnapshot& pool,
                 const CallPlan& plan, routing::UpstreamIndex at, core::TimePoint now);

}  // namespace weir::proxy
