// A client's own rate: its calls wait for their time, or are refused.
#pragma once

#include "proxy/chain_context.hpp"
#include "proxy/exchange.hpp"
#include "proxy/plan.hpp"
#include "proxy/services.hpp"
#include "runtime/task.hpp"

#include <span>

namespace weir::proxy {

// Takes a time of the client's rate for each call of a request that needs an upstream, and returns
// when the last of these times has come, or the client has left. Calls whose time would be beyond
// the chain's `max_wait`, or too late for their deadline, get a refusal.
runtime::Task<> wait_for_rate(Services& services, const ChainContext& chain,
                              const ClientRequest& request, std::span<CallPlan> plans,
                              ClientPresence& client);

}  // namespace weir::proxy
