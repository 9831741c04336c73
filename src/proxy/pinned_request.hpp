// The life of a request whose reads all show one block: the block is found once, every read is
// bound to it, and what it came to is told in one record.
#pragma once

#include "proxy/call_runner.hpp"
#include "proxy/exchange.hpp"
#include "proxy/group_attempt.hpp"
#include "proxy/pin_wish.hpp"
#include "proxy/plan.hpp"
#include "runtime/buffer.hpp"

#include <span>
#include <string>
#include <vector>

namespace weir::proxy {

struct PinnedAnswers {
    Answers answers;        // one per plan, as of run_batch()
    std::string block;      // as Weir-Block names it; empty where it is not known
    unsigned messages = 0;  // sent to upstreams beside those that the answers count
};

// What the answers take beside buffers is charged to `held`. References must live until the task
// has ended. The plans take on what the block makes of them.
runtime::Task<PinnedAnswers> run_pinned(const RequestScope& scope, const ClientRequest& request,
                                        const PinWish& wish, std::span<CallPlan> plans,
                                        runtime::Charge& held);

}  // namespace weir::proxy
