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
    core::TimePoint at;       // when it ended
    std::size_t answers = 1;  // calls that an answer is for
    core::Duration latency{};
    std::string detail;    // for the log
    bool no_room = false;  // for its reply, or for a connection
    bool unasked = false;  // it has no part in the call: the block that is wanted is not there
};

// Of a question of the gateway's own: within an attempt's time, its reply whole. `params` must live
// as long.
AttemptOptions options_of_question(const Services& services, const ChainContext& chain,
                                   routing::UpstreamIndex upstream, std::string_view params,
                                   core::TimePoint deadline);

runtime::Task<Judged> send_call(Services& services, const ChainContext& chain, const CallPlan& plan,
                                const AttemptOptions& options);

// Tells health and metrics what an attempt came to.
void report_attempt(Services& services, ChainContext& chain, const CallPlan& plan,
                    routing::UpstreamIndex upstream, const Judged& judged);

// What a call cost at an upstream, for the upstream and for the call's client.
void count_units(const ChainContext& chain, const CallPlan& plan, routing::UpstreamIndex upstream,
                 std::uint64_t units);

// What an attempt with one call shares with one that carries many.

// An id of ours as it came back: a number, or the number as a string (some providers return ids
// so).
std::optional<std::uint64_t> number_of(std::string_view id);

// What a time in a reply just received may be read against.
routing::OwnClock own_clock(const Services& services, const ChainContext& chain);

// Reads what is left of a reply into its body.
runtime::Task<std::optional<routing::TransportFailure>> read_to_end(
    runtime::BufferPool& buffers, upstream::TransportReply& reply);

// An error has to be an object. One that is a bare text is passed for its words, if they tell what
// the call came to.
bool is_for_clients(const jsonrpc::Reply& reply, const routing::Verdict& verdict);

// The error as the client may see it, where that differs: a provider may quote a piece of its key
// or URL.
std::optional<Answer> redacted_error(const telemetry::PieceRedactor& secrets,
                                     std::string_view error);

// What no rule knew is counted and kept, without secrets.
void observe(const Services& services, const ChainContext& chain, routing::UpstreamIndex upstream,
             const routing::HttpReply& reply);

}  // namespace weir::proxy
