// What one attempt came to, and what it means.
#pragma once

#include "core/time.hpp"
#include "jsonrpc/reply.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weir::routing {

// The bounded list of causes; the names are the metric label and the log field.
enum class Cause : std::uint8_t {
    answered,
    reverted,
    invalid_params,
    nonce_too_low,
    already_known,
    underpriced,
    tx_rejected,
    rate_limited,
    quota_exhausted,
    auth_failed,
    batch_too_large,
    method_unsupported,
    plan_lacks_method,
    state_missing,
    block_unknown,
    range_too_large,
    response_too_large,
    timeout,
    connect_failed,
    connection_lost,
    bad_reply,
    server_error,
    unknown,
};
constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::unknown) + 1;
std::string_view to_string(Cause cause);

// The attempt brought no HTTP reply that could be read to its end.
struct TransportFailure {
    Cause cause = Cause::connection_lost;  // timeout, connect_failed, connection_lost, bad_reply
    // Did any byte of the message leave this process? If not, a write may be sent elsewhere.
    enum class Sent : std::uint8_t { nothing, something } sent = Sent::something;
    std::string detail;  // for the log: no URL, no key
    // Whose doing it was: the gateway's own limits and cancellations count against no upstream.
    enum class Origin : std::uint8_t {
        upstream,
        gateway,
        no_room,  // the gateway's too: its buffers are full, or its descriptors used up
    } origin = Origin::upstream;
};

// What a time in a reply without a `Date` is read against: when the reply came, by the gateway's
// own clock, and how far ahead of that a time is believed, since the two clocks may differ.
struct OwnClock {
    core::WallTime now;
    core::Duration reach;
};

// The head of an HTTP reply, as far as a decision may rest on it.
struct HttpHead {
    int status = 0;
    std::string retry_after;  // raw field value; empty: none
    std::string date;         // likewise; not kept of a good reply
    // The first fields whose names begin with RateLimit, X-RateLimit or X-Rate-Limit, likewise;
    // names in small letters.
    std::vector<std::pair<std::string, std::string>> limits = {};
    std::optional<OwnClock> clock = {};  // of a reply that is no answer
};

// One reply: its head, and the JSON-RPC reply in its body where there is one with the right id.
struct HttpReply {
    HttpHead head;
    std::optional<jsonrpc::Reply> reply;
    std::string_view body;  // what was received, for wording rules when there is no reply
};

using AttemptOutcome = std::variant<TransportFailure, HttpReply>;

enum class Disposition : std::uint8_t { answer, try_another, wait, split_and_resend, give_up };
enum class Blame : std::uint8_t { nobody, client, upstream };

struct Verdict {
    Disposition disposition = Disposition::answer;
    Blame blame = Blame::nobody;
    Cause cause = Cause::answered;
    std::optional<core::Duration> retry_after;  // as the provider put it, if it is plausible
};

}  // namespace weir::routing
