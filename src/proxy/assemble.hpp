// Answers to the bytes of a response. What upstreams sent is spliced where it lies.
#pragma once

#include "proxy/answer.hpp"
#include "proxy/exchange.hpp"
#include "proxy/plan.hpp"

#include <boost/container/small_vector.hpp>

#include <span>
#include <string>
#include <string_view>

namespace weir::proxy {

// The pieces of a response body, which point into `frame`, the calls' ids and the answers; all must
// stay where they are while the pieces are used.
struct ResponseBody {
    std::string frame;
    boost::container::small_vector<std::string_view, 5> pieces;  // five for a single reply
};

// One reply object; not for a long result.
ResponseBody assemble_single(std::string_view id, const Answer& answer);

// One array, an item per call that is owed an answer, in the order of the calls.
struct BatchItem {
    const CallPlan* plan = nullptr;
    const Answer* answer = nullptr;  // null for a call that is owed none
};
ResponseBody assemble_batch(std::span<const BatchItem> items);

// What the frame of a batch's answer takes at most, but for errors of the gateway's own.
std::size_t frame_size(std::span<const jsonrpc::Call> calls);

// 200, or 429 when at least one item needed an upstream and every such item is rate limited.
ResponseHead batch_head(std::span<const BatchItem> items);

}  // namespace weir::proxy
