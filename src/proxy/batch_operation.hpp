// The life of a batch: reads in arrays as large as upstreams take them, the other calls beside
// them with a bound, writes in order.
#pragma once

#include "proxy/answer.hpp"
#include "proxy/call_runner.hpp"
#include "proxy/group_attempt.hpp"
#include "proxy/plan.hpp"
#include "runtime/buffer.hpp"

#include <span>

namespace weir::proxy {

struct BatchResult {
    Answers answers;        // one per plan, in their order; nothing for a call that is owed none
    unsigned messages = 0;  // arrays, and what no answer counts among its attempts
};

// What the answers take beside buffers is charged to `held`. References must live until the task
// has ended.
runtime::Task<BatchResult> run_batch(const RequestScope& scope, std::span<const CallPlan> plans,
                                     runtime::Charge& held);

}  // namespace weir::proxy
