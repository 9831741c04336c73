// One call to one upstream, once: sent, read, checked and judged. What follows is its caller's.
#pragma once

#include "core/time.hpp"
#include "proxy/answer.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/plan.hpp"
#include "proxy/services.hpp"
#include "routing/verdict.hpp"
#include "upstream/transport.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::proxy {

// May a result longer than the reply buffer be handed on before it has been read to its end?
enum class LongReplies : std::uint8_t { buffer, stream };

struct AttemptOptions {
    routing::UpstreamIndex upstream = 0;
    core::TimePoint now;
    core::TimePoint deadline;
    upstream::Connection connection = upstream::Connection::pooled;
    LongReplies long_replies = LongReplies::buffer;
    upstream::Cancellation* cancellation = nullptr;
    std::string_view params;  // raw; what is sent as the call's params
};

struct Judged {
    routing::Verdict verdict;
    std::optional<Answer> answer;  // a result or an rpc_error, where the reply held one
    routing::TransportFailure::Sent sent = routing::TransportFailure::Sent::something;
    core::TimePoint at;  // when it ended
    core::Duration latency{};
    std::string detail;  // for the log
};

runtime::Task<Judged> send_call(Services& services, const ChainContext& chain, const CallPlan& plan,
                                const AttemptOptions& options);

// Tells health and metrics what an attempt came to.
void report_attempt(Services& services, ChainContext& chain, const CallPlan& plan,
                    routing::UpstreamIndex upstream, const Judged& judged);

}  // namespace weir::proxy
