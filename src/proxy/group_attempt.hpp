// Calls in one array to one upstream, once: sent, read, matched and judged. What follows is its
// caller's.
#pragma once

#include "core/time.hpp"
#include "proxy/answer.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/earlier.hpp"
#include "proxy/exchange.hpp"
#include "proxy/plan.hpp"
#include "proxy/services.hpp"
#include "upstream/transport.hpp"

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
    // By the client's leaving, or once all of its calls have been answered elsewhere.
    upstream::Cancellation cancellation = {};
};

// The places of the calls that got no answer, by what can be done for them.
struct Unanswered {
    std::vector<std::size_t> too_many;  // refused for the number of calls: in smaller arrays
    std::vector<std::size_t> alone;     // their answers are too long together, or doubted
    struct Lost {
        std::size_t place = 0;
        Earlier earlier;
    };
    std::vector<Lost> lost;  // asked in vain: elsewhere, or in their turn
};

// Of the message, about; never less.
std::size_t size_of(const Group& group);

// Puts what was answered into `answers` where there is none yet, and tells health, metrics and the
// batch limit what the array came to. It runs until the group's deadline.
runtime::Task<Unanswered> send_group(Services& services, ChainContext& chain, Group& group,
                                     Answers& answers);

}  // namespace weir::proxy
