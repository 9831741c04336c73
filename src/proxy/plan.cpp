#include "proxy/plan.hpp"

#include "jsonrpc/value.hpp"

#include <string>

namespace weir::proxy {
namespace {

using jsonrpc::CallFault;
using routing::Access;

GatewayError refuse(ErrorType type, std::string message) {
    return {.type = type, .message = std::move(message), .extra_data = {}};
}

std::optional<GatewayError> fault_of(const jsonrpc::Call& call) {
    switch (call.fault) {
        case CallFault::none:
            return std::nullopt;
        case CallFault::invalid:
        case CallFault::duplicate_member:
            return refuse(ErrorType::invalid_request, std::string("not a call: ") + call.reason);
        case CallFault::bad_method_name:
            return refuse(ErrorType::method_denied, std::string("no such method: ") + call.reason);
    }
    return std::nullopt;
}

bool names_pending(const routing::MethodTraits& traits, std::string_view params) {
    constexpr std::string_view kPending = "pending";
    if (traits.block_param == routing::BlockParam::pending) {
        return true;
    }
    // A string that is written plainly stands in the text as it is; that is quickly seen.
    if (traits.block_param != routing::BlockParam::block ||
        params.find(kPending) == std::string_view::npos) {
        return false;
    }
    return jsonrpc::plain_string(jsonrpc::element(params, traits.block_position)) == kPending;
}

}  // namespace

CallPlan plan_call(const jsonrpc::Call& call, const ChainRules& rules) {
    CallPlan plan;
    plan.call = &call;
    plan.traits = &rules.methods.find(call.method);
    plan.refusal = fault_of(call);
    if (plan.refusal) {
        return plan;
    }
    const Access access = plan.access();
    const auto method = [&call] { return std::string(call.method); };
    if (!rules.policy.allows(*plan.traits, call.method)) {
        plan.refusal = refuse(ErrorType::method_denied,
                              "the method " + method() + " is denied on chain " +
                                  std::string(rules.chain) + " by the gateway's policy");
    } else if (access == Access::subscribe) {
        plan.refusal =
            refuse(ErrorType::method_denied,
                   "the method " + method() + " needs a WebSocket; over HTTP use a filter or poll");
    } else if (call.is_notification() && (access == Access::write || access == Access::broadcast ||
                                          access == Access::poll_filter)) {
        plan.refusal = refuse(
            ErrorType::invalid_request,
            "the method " + method() + " is not sent without an id: its outcome could not be told");
    } else if (access == Access::read) {
        plan.wants_pending = names_pending(*plan.traits, call.params);
    }
    return plan;
}

}  // namespace weir::proxy
