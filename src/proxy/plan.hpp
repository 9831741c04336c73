// What is to be done with each call of a request. Pure.
#pragma once

#include "jsonrpc/request.hpp"
#include "proxy/gateway_error.hpp"
#include "proxy/head_floor.hpp"
#include "routing/block_need.hpp"
#include "routing/methods.hpp"
#include "routing/policy.hpp"
#include "routing/select.hpp"
#include "routing/snapshot.hpp"
#include "telemetry/metrics.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::proxy {

struct Client;
struct Earlier;
struct PinnedCall;

struct CallPlan {
    const jsonrpc::Call* call = nullptr;
    const routing::MethodTraits* traits = nullptr;
    const Client* client = nullptr;                 // who pays for it; none: nobody
    const telemetry::ClientMeter* meter = nullptr;  // the client's, on this chain
    core::Duration waited{};     // for the client's own rate, of what it may wait in all
    bool wants_pending = false;  // a read that names the block `pending`
    routing::BlockNeed block;    // of a read
    HeadCall head_call = HeadCall::none;
    bool null_needs_head = false;                     // looks something up that newer blocks hold
    std::optional<routing::UpstreamIndex> preferred;  // should serve if it can
    Earlier* earlier = nullptr;              // the first attempt, in an array with other calls
    std::optional<GatewayError> refusal;     // answered without an upstream
    std::optional<std::string> known;        // the result, known without one
    PinnedCall* pinned = nullptr;            // a read that is bound to one block
    const jsonrpc::Call* by_hash = nullptr;  // what it is in an array then

    routing::Access access() const { return traits->access; }

    // As it stands in an array.
    const jsonrpc::Call& in_array() const { return by_hash != nullptr ? *by_hash : *call; }

    // Nothing is sent back for it.
    bool is_silent() const { return call->is_notification() && !refusal; }

    // False: a batch leaves it out, whatever it is. What is no call at all gets its error.
    bool is_owed_an_item() const {
        return !call->is_notification() || call->fault != jsonrpc::CallFault::none;
    }
};

// What the configuration says about a chain's methods.
struct ChainRules {
    std::string_view chain;  // its name
    std::size_t place = 0;   // among the chains that are served
    const routing::MethodPolicy& policy;
    const routing::MethodBook& methods;
};

CallPlan plan_call(const jsonrpc::Call& call, const ChainRules& rules, const Client& client);

}  // namespace weir::proxy
