// The life of a batch: its reads side by side with a bound, its writes in order.
#pragma once

#include "proxy/answer.hpp"
#include "proxy/call_runner.hpp"
#include "proxy/plan.hpp"

#include <optional>
#include <span>
#include <vector>

namespace weir::proxy {

// One answer per plan, in their order; nothing for a call that is owed none. References must live
// until the task has ended.
runtime::Task<std::vector<std::optional<Answer>>> run_batch(const RequestScope& scope,
                                                            std::span<const CallPlan> plans);

}  // namespace weir::proxy
