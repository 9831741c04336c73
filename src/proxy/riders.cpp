#include "proxy/riders.hpp"

#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/pinned_block.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

namespace weir::proxy {
namespace {

// A transaction that was broadcast here is looked up at the upstream that took it.
bool has_a_holder(const RequestScope& scope, const CallPlan& plan) {
    if (plan.call->method != "eth_getTransactionByHash" &&
        plan.call->method != "eth_getTransactionReceipt") {
        return false;
    }
    const auto hash = jsonrpc::plain_string(jsonrpc::element(plan.call->params, 0));
    return hash &&
           scope.records.holder(scope.chain.identity.chain, core::to_lower(*hash)).has_value();
}

// What newer blocks may hold is looked up at the head.
routing::BlockNeed block_of(const CallPlan& plan) {
    return plan.null_needs_head && plan.block.kind == routing::BlockNeed::Kind::any
               ? routing::BlockNeed{.kind = routing::BlockNeed::Kind::latest}
               : plan.block;
}

routing::Need need_of(const ChainContext& chain, const routing::RoutingSnapshot& pool,
                      const CallPlan& plan, const routing::BlockNeed& block) {
    routing::Need need{.method = plan.call->method,
                       .traits = plan.traits,
                       .patience = chain.config.rate_limits.max_wait,
                       .block = block,
                       .served = block.kind == routing::BlockNeed::Kind::latest
                                     ? chain.floor.number(pool.fall_backs)
                                     : 0};
    if (plan.pinned != nullptr) {
        plan.pinned->block.add_to(need);
    }
    return need;
}

}  // namespace

// Slow calls go alone, so that the others do not wait for them; and so do those that show the head,
// which may have to be asked again elsewhere.
bool may_ride(const RequestScope& scope, const CallPlan& plan) {
    return !plan.refusal && !plan.known && (plan.pinned == nullptr || plan.by_hash != nullptr) &&
           plan.access() == routing::Access::read && !plan.wants_pending &&
           plan.traits->time_class == routing::TimeClass::fast && !has_a_holder(scope, plan) &&
           (plan.head_call == HeadCall::none || scope.chain.config.upstreams.size() == 1);
}

std::vector<routing::BatchKind> kinds_of(const RequestScope& scope, std::span<const CallPlan> plans,
                                         std::span<const std::size_t> riders,
                                         const routing::Tried& tried, core::TimePoint now) {
    // Calls of one method and block have the same upstreams.
    struct OfMethod {
        std::string_view method;
        routing::BlockNeed block;
        std::size_t kind;
    };
    std::vector<OfMethod> methods;
    std::vector<routing::BatchKind> kinds;
    for (const std::size_t place : riders) {
        const CallPlan& plan = plans[place];
        const routing::BlockNeed block = block_of(plan);
        auto known = std::find_if(methods.begin(), methods.end(), [&](const OfMethod& each) {
            return each.block == block && each.method == plan.call->method;
        });
        if (known == methods.end()) {
            const routing::Tried fit = routing::first_choices(
                *scope.snapshot, need_of(scope.chain, *scope.snapshot, plan, block), tried, now);
            auto kind = std::find_if(kinds.begin(), kinds.end(),
                                     [&](const auto& each) { return each.fit == fit; });
            if (kind == kinds.end()) {
                kinds.push_back({.fit = fit, .places = {}});
                kind = kinds.end() - 1;
            }
            methods.push_back(
                {plan.call->method, block, static_cast<std::size_t>(kind - kinds.begin())});
            known = methods.end() - 1;
        }
        kinds[known->kind].places.push_back(place);
    }
    return kinds;
}

bool has_another(const ChainContext& chain, const routing::RoutingSnapshot& pool,
                 const CallPlan& plan, routing::UpstreamIndex at, core::TimePoint now) {
    routing::Tried tried;
    tried.set(at);
    const auto picked = routing::select(pool, need_of(chain, pool, plan, plan.block), tried, now,
                                        0);  // whoever it is
    return std::holds_alternative<routing::UpstreamIndex>(picked);
}

}  // namespace weir::proxy
