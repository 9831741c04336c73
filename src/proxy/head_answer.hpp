// Answers to clients that show an upstream's head: what they say counts as if the gateway had
// asked.
#pragma once

#include "core/time.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/head_floor.hpp"
#include "runtime/ports.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::proxy {

// The head that the answer shows; nothing for what cannot be read as a block number.
std::optional<std::uint64_t> head_shown(HeadCall call, std::string_view json);

struct HeadAnswer {
    ChainContext& chain;
    HeadCall call = HeadCall::none;
    routing::UpstreamIndex upstream = 0;
    std::uint64_t number = 0;
    std::string_view json;
    core::TimePoint at;
};

// Tells the pool where it is news. What nobody believes moves nothing.
void observe_head_answer(const HeadAnswer& answer, const runtime::Clock& clock);

}  // namespace weir::proxy
