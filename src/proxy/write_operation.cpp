#include "proxy/write_operation.hpp"

#include "proxy/attempt.hpp"
#include "proxy/failure.hpp"
#include "proxy/write_upstream.hpp"

#include <string>
#include <utility>

namespace weir::proxy {
namespace {

using routing::Access;
using routing::Cause;
using routing::TransportFailure;

// Does this outcome prove that nothing was carried out, so that another upstream may be asked?
bool may_go_elsewhere(const CallPlan& plan, const Judged& judged) {
    if (!judged.answer && judged.sent == TransportFailure::Sent::nothing) {
        return true;
    }
    const Cause cause = judged.verdict.cause;
    return plan.access() != Access::broadcast && judged.answer &&
           (cause == Cause::method_unsupported || cause == Cause::plan_lacks_method);
}

// Refused by the provider's door before a node saw it.
bool is_refused_at_the_door(Cause cause) {
    return cause == Cause::rate_limited || cause == Cause::quota_exhausted ||
           cause == Cause::auth_failed;
}

GatewayError outcome_unknown(const CallPlan& plan, const config::Chain& chain) {
    GatewayError error;
    if (plan.access() == Access::poll_filter) {
        error.type = ErrorType::bad_upstream_reply;
        error.message = "the upstream of chain " + chain.name +
                        " that holds this filter gave no usable reply; changes may be lost";
        return error;
    }
    error.type = ErrorType::broadcast_unknown;
    error.message = "the call " + std::string(plan.call->method) + " was sent once on chain " +
                    chain.name +
                    " and its outcome is unknown; do not sign or send again before you have "
                    "looked it up";
    error.extra_data = R"("outcome":"unknown")";
    return error;
}

}  // namespace

runtime::Task<Answer> write_once(Services& services, ChainContext& chain,
                                 std::shared_ptr<const routing::RoutingSnapshot> snapshot,
                                 const CallPlan& plan, std::string_view params,
                                 core::TimePoint deadline,
                                 std::optional<routing::UpstreamIndex> only) {
    const routing::Need need{.method = plan.call->method, .traits = plan.traits};
    routing::Tried tried;
    Ending ending;
    std::optional<Answer> last_refusal;
    unsigned attempts = 0;
    for (;;) {
        const core::TimePoint now = services.worker.clock.now();
        std::optional<routing::UpstreamIndex> upstream;
        if (!only) {
            const auto picked = write_upstream(chain, *snapshot, need, tried, now);
            if (const auto* place = std::get_if<routing::UpstreamIndex>(&picked)) {
                upstream = *place;
            } else {
                ending.nobody = std::get<routing::NoUpstream>(picked);
            }
        } else if (!tried.test(*only)) {
            upstream = only;
        }
        ending.out_of_time = now >= deadline;
        if (!upstream || ending.out_of_time) {
            break;
        }
        tried.set(*upstream);
        std::optional<upstream::Permit> permit = chain.pool.try_acquire(*upstream, now);
        if (!permit) {
            ending.at_capacity = true;
            continue;
        }
        ++attempts;
        const AttemptOptions options{.upstream = *upstream,
                                     .now = now,
                                     .deadline = deadline,
                                     .connection = upstream::Connection::never_stale,
                                     .long_replies = LongReplies::buffer,
                                     .cancellation = nullptr,
                                     .params = params};
        Judged judged = co_await send_call(services, chain, plan, options);
        permit.reset();
        report_attempt(services, chain, plan, *upstream, judged);
        ending.last_cause = judged.verdict.cause;
        if (judged.verdict.retry_after) {
            ending.available_at = services.worker.clock.now() + *judged.verdict.retry_after;
        }
        if (judged.answer) {
            judged.answer->upstream = upstream;
        }
        if (may_go_elsewhere(plan, judged)) {
            last_refusal = std::move(judged.answer);
            continue;
        }
        if (is_refused_at_the_door(judged.verdict.cause)) {
            break;
        }
        Answer answer = judged.answer ? std::move(*judged.answer)
                                      : Answer::failed(outcome_unknown(plan, chain.config));
        answer.attempts = attempts;
        co_return answer;
    }
    if (!ending.available_at && ending.nobody) {
        ending.available_at = ending.nobody->available_at;
    }
    Answer answer =
        last_refusal ? std::move(*last_refusal)
                     : Answer::failed(error_of(ending, chain.config, services.worker.clock.now()));
    answer.attempts = attempts;
    co_return answer;
}

}  // namespace weir::proxy
