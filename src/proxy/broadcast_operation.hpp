// The life of a broadcast: hashed, sent once, and found out about when its reply is lost.
#pragma once

#include "core/time.hpp"
#include "proxy/answer.hpp"
#include "proxy/call_runner.hpp"
#include "proxy/plan.hpp"

namespace weir::proxy {

// References must live until the task has ended. The client's leaving changes nothing.
runtime::Task<Answer> broadcast(const RequestScope& scope, const CallPlan& plan,
                                core::TimePoint deadline);

}  // namespace weir::proxy
