// The life of one write: sent to one upstream, once. Another upstream is asked only where it is
// certain that nothing was carried out.
#pragma once

#include "core/time.hpp"
#include "proxy/answer.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/plan.hpp"
#include "proxy/services.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace weir::proxy {

// `only` binds the call to one upstream. The references must live until the task has ended.
runtime::Task<Answer> write_once(Services& services, ChainContext& chain,
                                 std::shared_ptr<const routing::RoutingSnapshot> snapshot,
                                 const CallPlan& plan, std::string_view params,
                                 core::TimePoint deadline,
                                 std::optional<routing::UpstreamIndex> only = std::nullopt);

}  // namespace weir::proxy
