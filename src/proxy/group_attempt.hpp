// Calls in one array to one upstream, once: sent, read, matched and judged. What follows is its
// caller's.
#pragma once

#include "core/time.hpp"
#include "proxy/answer.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/exchange.hpp"
#include "proxy/plan.hpp"
#include "proxy/services.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace weir::proxy {

using Answers = std::vector<std::optional<Answer>>;

// The calls of a batch that go together, by their places.
struct Group {
    routing::UpstreamIndex upstream = 0;
    std::span<const CallPlan> plans;  // of the whole batch
    std::vector<std::size_t> places;
    core::TimePoint deadline;
    ClientPresence& client;
};

// The places of the calls that got no answer, by what can be done for them.
struct Unanswered {
    std::vector<std::size_t> too_many;  // refused for the number of calls: in smaller arrays
    std::vector<std::size_t> limited;   // refused for a limit: elsewhere, or in their turn
    std::vector<std::size_t> lost;      // asked in vain: elsewhere
};

// Puts what was answered into `answers`, and tells health, metrics and the batch limit what the
// array came to. An array that is late is given up, so that no slow call holds the others.
runtime::Task<Unanswered> send_group(Services& services, ChainContext& chain, const Group& group,
                                     Answers& answers);

}  // namespace weir::proxy
