// The life of a batch: reads in arrays as large as upstreams take them, the other calls beside
// them with a bound, writes in order.
#pragma once

#include "proxy/answer.hpp"
#include "proxy/call_runner.hpp"
#include "proxy/group_attempt.hpp"
#include "proxy/plan.hpp"

#include <span>

namespace weir::proxy {

// One answer per plan, in their order; nothing for a call that is owed none. References must live
// until the task has ended.
runtime::Task<Answers> run_batch(const RequestScope& scope, std::span<const CallPlan> plans);

}  // namespace weir::proxy
