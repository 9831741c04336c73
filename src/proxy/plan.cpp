#include "proxy/plan.hpp"

#include "jsonrpc/value.hpp"
#include "proxy/client.hpp"

#include <algorithm>
#include <array>
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

HeadCall head_call_of(const jsonrpc::Call& call, const routing::BlockNeed& block) {
    if (call.method == "eth_blockNumber") {
        return HeadCall::number;
    }
    if (call.method != "eth_getBlockByNumber" || block.kind != routing::BlockNeed::Kind::latest) {
        return HeadCall::none;
    }
    return call.param(1) == "true" ? HeadCall::whole_block : HeadCall::block;
}

// Null means "not known here": at a node that is behind, perhaps not known yet.
bool is_lookup(std::string_view method) {
    constexpr auto kLookups = std::to_array<std::string_view>({
        "eth_getTransactionByHash",
        "eth_getTransactionReceipt",
        "eth_getRawTransactionByHash",
        "eth_getBlockByHash",
        "eth_getBlockByNumber",
        "eth_getBlockReceipts",
        "eth_getHeaderByHash",
        "eth_getHeaderByNumber",
    });
    return method.starts_with("eth_get") &&
           std::find(kLookups.begin(), kLookups.end(), method) != kLookups.end();
}

}  // namespace

CallPlan plan_call(const jsonrpc::Call& call, const ChainRules& rules, const Client& client) {
    CallPlan plan;
    plan.call = &call;
    plan.traits = &rules.methods.find(call.method);
    plan.client = &client;
    plan.meter = &client.meters[rules.place];
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
    } else if (!client.policy.allows(*plan.traits, call.method)) {
        plan.refusal = refuse(ErrorType::method_denied,
                              "the method " + method() + " is denied to the client " + client.name);
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
        plan.block = routing::block_need(*plan.traits, call);
        plan.head_call = head_call_of(call, plan.block);
        plan.null_needs_head = is_lookup(call.method);
        plan.wants_pending = plan.block.kind == routing::BlockNeed::Kind::pending;
    }
    return plan;
}

}  // namespace weir::proxy
