#include "proxy/write_operation.hpp"

#include "proxy/attempt.hpp"
#include "proxy/client.hpp"
#include "proxy/failure.hpp"
#include "proxy/patience.hpp"
#include "proxy/write_upstream.hpp"

#include <algorithm>
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

// Turned away by the provider before a node saw it.
bool is_turned_away(Cause cause) {
    return cause == Cause::rate_limited || cause == Cause::quota_exhausted ||
           cause == Cause::auth_failed;
}

// What must be left of its time for a write to be begun: one that is cut off has to be looked for.
core::Duration time_for_one(const config::Timeouts& timeouts) {
    return std::min(timeouts.attempt, timeouts.request / 8);
}

std::string_view receiver_of(const WriteRequest& request) {
    return request.only ? "the filter's upstream" : "the write upstream";
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

void note_unknown(Services& services, ChainContext& chain, TransactionRecords& records,
                  const CallPlan& plan, routing::UpstreamIndex upstream) {
    const runtime::Clock& clock = services.worker.clock;
    chain.meter.write(to_string(WriteOutcome::unknown));
    records.note({.chain = chain.identity.chain,
                  .method = std::string(plan.call->method),
                  .upstream = chain.config.upstreams[upstream].name,
                  .at = clock.wall_now(),
                  .until = clock.now() + chain.config.writes.record_ttl});
}

std::optional<routing::UpstreamIndex> bound_to(const WriteRequest& request) {
    return request.course != nullptr && request.course->upstream ? request.course->upstream
                                                                 : request.only;
}

// Why the one upstream that may get the call cannot, but for a limit.
void note_unfit(const routing::RoutingSnapshot& pool, routing::UpstreamIndex upstream,
                Ending& ending) {
    const bool spent = pool.upstreams[upstream].state == routing::UpstreamState::quota_spent;
    ending.nobody.emplace();
    ending.nobody->reason =
        spent ? routing::NoUpstream::Reason::quota_exhausted : routing::NoUpstream::Reason::unfit;
}

// The upstream to send to next.
std::optional<routing::UpstreamIndex> next_upstream(ChainContext& chain,
                                                    const routing::RoutingSnapshot& pool,
                                                    const WriteRequest& request,
                                                    const routing::Tried& tried,
                                                    core::TimePoint now, Ending& ending) {
    if (const auto bound = bound_to(request)) {
        const auto& policy = pool.upstreams[*bound].policy;
        const bool denied =
            policy && !policy->allows(*request.plan.traits, request.plan.call->method);
        return denied || tried.test(*bound) ? std::nullopt : bound;
    }
    const routing::Need need{.method = request.plan.call->method,
                             .traits = request.plan.traits,
                             .patience = chain.config.rate_limits.max_wait};
    const auto picked = write_upstream(chain, pool, need, tried, now);
    if (const auto* place = std::get_if<routing::UpstreamIndex>(&picked)) {
        return *place;
    }
    ending.nobody = std::get<routing::NoUpstream>(picked);
    return std::nullopt;
}

}  // namespace

runtime::Task<SentOnce> send_once(Services& services, ChainContext& chain,
                                  std::shared_ptr<const routing::RoutingSnapshot> snapshot,
                                  WriteRequest request) {
    const core::TimePoint last_start = request.deadline - time_for_one(chain.config.timeouts);
    Patience patience(services, chain, request.client, request.deadline, request.plan.waited);
    const routing::MethodTraits& traits = *request.plan.traits;
    routing::Tried tried;
    routing::Tried limited;  // could be asked, but for a limit or a cap
    Ending ending;
    ending.unsent_write = true;
    ending.bound_to = bound_to(request) ? receiver_of(request) : std::string_view();
    SentOnce sent;
    for (;;) {
        const core::TimePoint now = services.worker.clock.now();
        std::optional<routing::UpstreamIndex> upstream =
            next_upstream(chain, *snapshot, request, tried, now, ending);
        ending.out_of_time = now >= last_start;
        if (ending.out_of_time) {
            break;
        }
        upstream::Permit permit;
        if (upstream) {
            tried.set(*upstream);
            upstream::Admission admission =
                chain.pool.admit(*upstream, {traits, request.plan.call->method}, now);
            if (!admission.permit) {
                limited.set(*upstream, admission.obstacle != upstream::Obstacle::unfit);
                ending.at_capacity =
                    ending.at_capacity || admission.obstacle == upstream::Obstacle::capacity;
                if (admission.obstacle == upstream::Obstacle::unfit) {
                    snapshot = chain.pool.snapshots().get();  // the picture was old
                    note_unfit(*snapshot, *upstream, ending);
                }
                continue;
            }
            permit = std::move(*admission.permit);
        } else {
            limited |= ending.nobody ? ending.nobody->cooling : routing::Tried();
            if (limited.none()) {
                break;
            }
            // Nothing has been sent yet that could be done twice.
            const upstream::Turn turn{.among = limited,
                                      .traits = &traits,
                                      .method = request.plan.call->method,
                                      .share = share_of(request.plan)};
            std::optional<upstream::Granted> granted = co_await patience.wait(turn, ending);
            if (!granted) {
                break;
            }
            upstream = granted->upstream;
            permit = std::move(granted->permit);
            limited.reset();
            tried.set(*upstream);
            snapshot = chain.pool.snapshots().get();
        }
        ++sent.attempts;
        const AttemptOptions options{.upstream = *upstream,
                                     .now = services.worker.clock.now(),
                                     .deadline = request.deadline,
                                     .connection = upstream::Connection::never_stale,
                                     .long_replies = LongReplies::buffer,
                                     .cancellation = nullptr,
                                     .params = request.params};
        if (request.listener != nullptr) {
            request.listener->on_send(*upstream);
        }
        Judged judged = co_await send_call(services, chain, request.plan, options);
        permit = {};
        report_attempt(services, chain, request.plan, *upstream, judged);
        if (request.listener != nullptr) {
            request.listener->on_outcome(*upstream, judged);
        }
        ending.last_cause = judged.verdict.cause;
        ending.no_room = judged.no_room;
        if (judged.answer) {
            judged.answer->upstream = upstream;
        }
        if (may_go_elsewhere(request.plan, judged)) {
            sent.answer = std::move(judged.answer);
            continue;
        }
        if (request.course != nullptr) {
            request.course->upstream = upstream;
        }
        if (is_turned_away(judged.verdict.cause)) {
            const core::Duration wait =
                std::max(judged.at, chain.pool.rests_until(*upstream)) - judged.at;
            sent.answer = Answer::failed(
                turned_away(judged.verdict.cause, receiver_of(request), chain.config, wait));
            co_return sent;
        }
        sent.upstream = upstream;
        sent.judged = std::move(judged);
        co_return sent;
    }
    if (!sent.answer) {
        const core::TimePoint now = services.worker.clock.now();
        sent.answer = Answer::failed(error_of(ending, chain.config, now));
    }
    co_return sent;
}

runtime::Task<Answer> write_once(Services& services, ChainContext& chain,
                                 TransactionRecords& records,
                                 std::shared_ptr<const routing::RoutingSnapshot> snapshot,
                                 WriteRequest request) {
    SentOnce sent = co_await send_once(services, chain, std::move(snapshot), request);
    std::optional<Answer> answer =
        sent.upstream ? std::move(sent.judged.answer) : std::move(sent.answer);
    if (!answer) {
        answer = Answer::failed(outcome_unknown(request.plan, chain.config));
        if (answer->error().type == ErrorType::broadcast_unknown) {
            note_unknown(services, chain, records, request.plan, *sent.upstream);
        }
    }
    answer->attempts = sent.attempts;
    co_return std::move(*answer);
}

}  // namespace weir::proxy
