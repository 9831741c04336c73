#include "proxy/call_runner.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/broadcast_operation.hpp"
#include "proxy/client.hpp"
#include "proxy/read_operation.hpp"
#include "proxy/write_operation.hpp"

#include <optional>
#include <string>
#include <utility>

namespace weir::proxy {
namespace {

using routing::Access;

core::TimePoint deadline_of(const RequestScope& scope, const CallPlan& plan) {
    const config::Timeouts& timeouts = scope.chain.config.timeouts;
    return scope.received + (plan.traits->time_class == routing::TimeClass::slow
                                 ? timeouts.slow_request
                                 : timeouts.request);
}

runtime::Task<Answer> run_read(const RequestScope& scope, const CallPlan& plan,
                               std::string_view params, LongReplies long_replies,
                               std::optional<routing::UpstreamIndex> only) {
    return ReadOperation::run(scope.services, scope.chain, scope.snapshot, plan, params,
                              deadline_of(scope, plan), long_replies, scope.client, only);
}

runtime::Task<Answer> refuse(const CallPlan& plan) { co_return Answer::failed(*plan.refusal); }

runtime::Task<Answer> tell(const CallPlan& plan) { co_return Answer::own_result(*plan.known); }

// The id of the network as a decimal string, for while no upstream says otherwise.
std::string chain_id_string(const config::Chain& chain) {
    return '"' + std::to_string(chain.chain_id) + '"';
}

runtime::Task<Answer> network_version(const RequestScope& scope, const CallPlan& plan) {
    const std::optional<std::string> known = scope.chain.network_version.get();
    if (known) {
        co_return Answer::own_result(*known);
    }
    if (scope.chain.pool.is_fit_now()) {
        Answer answer = co_await run_read(scope, plan, "[]", LongReplies::buffer, std::nullopt);
        if (answer.kind() == Answer::Kind::result) {
            const auto text = jsonrpc::plain_string(answer.json());
            if (text && core::parse_decimal(*text)) {
                scope.chain.network_version.keep(std::string(answer.json()));
                co_return answer;
            }
        }
    }
    co_return Answer::own_result(chain_id_string(scope.chain.config));
}

runtime::Task<Answer> run_local(const RequestScope& scope, const CallPlan& plan) {
    if (plan.call->method == "eth_chainId") {
        co_return Answer::own_result('"' + core::to_quantity(scope.chain.config.chain_id) + '"');
    }
    if (plan.call->method == "net_listening") {
        co_return Answer::own_result("true");
    }
    Answer answer = co_await network_version(scope, plan);
    co_return answer;
}

bool looks_up_transaction(const CallPlan& plan) {
    return plan.call->method == "eth_getTransactionByHash" ||
           plan.call->method == "eth_getTransactionReceipt";
}

// A transaction that was broadcast here is looked up at the upstream that took it, if it can serve.
runtime::Task<Answer> read_transaction(const RequestScope& scope, const CallPlan& plan) {
    CallPlan bound = plan;
    const auto hash = jsonrpc::plain_string(jsonrpc::element(plan.call->params, 0));
    if (hash) {
        const auto holder = scope.records.holder(scope.chain.identity.chain, core::to_lower(*hash));
        bound.preferred = holder ? scope.chain.place_of(*holder) : std::nullopt;
    }
    Answer answer =
        co_await run_read(scope, bound, plan.call->params, scope.long_replies, std::nullopt);
    co_return answer;
}

runtime::Task<Answer> make_filter(const RequestScope& scope, const CallPlan& plan) {
    Answer answer =
        co_await run_read(scope, plan, plan.call->params, LongReplies::buffer, std::nullopt);
    if (answer.kind() != Answer::Kind::result || !answer.upstream) {
        co_return answer;
    }
    std::string id = scope.filters.add({.chain = scope.chain.identity.chain,
                                        .client = plan.client->name,
                                        .upstream = scope.chain.id_of(*answer.upstream),
                                        .upstream_id = std::string(answer.json())},
                                       scope.services.worker.clock.now());
    Answer own = Answer::own_result('"' + id + '"');
    own.upstream = answer.upstream;
    own.attempts = answer.attempts;
    co_return own;
}

runtime::Task<Answer> use_filter(const RequestScope& scope, const CallPlan& plan) {
    const auto id = jsonrpc::plain_string(jsonrpc::element(plan.call->params, 0));
    std::optional<Filter> filter;
    if (id) {
        filter = scope.filters.find(scope.chain.identity.chain, plan.client->name, *id,
                                    scope.services.worker.clock.now());
    }
    const auto holder = filter ? scope.chain.place_of(filter->upstream) : std::nullopt;
    if (!holder) {
        GatewayError error;
        error.type = ErrorType::filter_not_found;
        error.message = "filter not found";
        co_return Answer::failed(std::move(error));
    }
    const std::string params = '[' + filter->upstream_id + ']';
    if (plan.access() == Access::read_filter) {
        Answer answer = co_await run_read(scope, plan, params, scope.long_replies, holder);
        co_return answer;
    }
    if (plan.call->method == "eth_uninstallFilter") {
        scope.filters.remove(*id);
    }
    const WriteRequest request{.plan = plan,
                               .params = params,
                               .deadline = deadline_of(scope, plan),
                               .only = holder,
                               .course = nullptr,
                               .client = scope.client};
    Answer answer =
        co_await write_once(scope.services, scope.chain, scope.records, scope.snapshot, request);
    co_return answer;
}

}  // namespace

runtime::Task<Answer> run_call(const RequestScope& scope, const CallPlan& plan) {
    if (plan.refusal) {
        return refuse(plan);
    }
    if (plan.known) {
        return tell(plan);
    }
    switch (plan.access()) {
        case Access::local:
            return run_local(scope, plan);
        case Access::read:
            if (plan.head_call != HeadCall::none) {
                return run_read(scope, plan, plan.call->params, LongReplies::buffer, std::nullopt);
            }
            return looks_up_transaction(plan)
                       ? read_transaction(scope, plan)
                       : run_read(scope, plan, plan.call->params, scope.long_replies, std::nullopt);
        case Access::make_filter:
            return make_filter(scope, plan);
        case Access::poll_filter:
        case Access::read_filter:
            return use_filter(scope, plan);
        case Access::broadcast:
            return broadcast(scope, plan, deadline_of(scope, plan));
        case Access::write:
        case Access::subscribe:
            break;
    }
    return write_once(scope.services, scope.chain, scope.records, scope.snapshot,
                      {.plan = plan,
                       .params = plan.call->params,
                       .deadline = deadline_of(scope, plan),
                       .only = std::nullopt,
                       .course = scope.course,
                       .client = scope.client});
}

}  // namespace weir::proxy
