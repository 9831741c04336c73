// Finds the block that a reference stands for, from what upstreams are known to have and from what
// they say now.
#pragma once

#include "chain/block_choice.hpp"
#include "chain/block_ref.hpp"
#include "proxy/answer.hpp"
#include "proxy/call_runner.hpp"
#include "proxy/pinned_block.hpp"

#include <cstdint>
#include <optional>

namespace weir::proxy {

// How far what is known of heads may be believed.
enum class Freshness : std::uint8_t {
    lately,  // what was said a moment ago still holds
    now,     // everybody is asked
};

struct Found {
    std::optional<chain::BlockId> block;
    std::optional<GatewayError> error;  // where there is none
    Surveyed surveyed;
    unsigned messages = 0;
};

// Asks for the client of `payer`. References must live until the task has ended.
runtime::Task<Found> find_block(const RequestScope& scope, const CallPlan& payer,
                                const chain::BlockRef& wanted, Freshness freshness,
                                core::TimePoint deadline);

}  // namespace weir::proxy
