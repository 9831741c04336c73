// From how the attempts of a call ended to the one error its client sees. Pure.
#pragma once

#include "config/config.hpp"
#include "core/time.hpp"
#include "proxy/gateway_error.hpp"
#include "routing/select.hpp"
#include "routing/verdict.hpp"

#include <optional>
#include <string_view>

namespace weir::proxy {

// What is known when nobody is left to ask.
struct Ending {
    std::optional<routing::Cause> last_cause;     // of the attempts made
    std::optional<routing::NoUpstream> nobody;    // why no further upstream was chosen
    bool at_capacity = false;                     // one was left out for its in-flight cap
    bool out_of_time = false;                     // the request's deadline has passed
    bool retries_spent = false;                   // so many calls are tried again already
    bool no_room = false;                         // for the last reply, or for a connection
    bool queue_full = false;                      // too many calls wait for a turn
    bool limited = false;                         // nobody but limited ones is left to ask
    std::optional<core::TimePoint> available_at;  // when one of these can be asked again
    bool unsent_write = false;                    // may be sent again: nothing has left
    std::string_view bound_to;                    // where it had to go, "the ..."; empty: anywhere
};

GatewayError error_of(const Ending& ending, const config::Chain& chain, core::TimePoint now);

// For a call beyond its client's own rate, which could go after `wait`.
GatewayError client_limited(std::string_view client, const config::Chain& chain,
                            core::Duration wait);

// For a request of a client that has many running while little room is left.
GatewayError client_overload(std::string_view client);

// For a call that was sent once, when the upstream turned it away before a node saw it: limited,
// its plan spent, or the gateway's credentials refused. `who` is that upstream, in words: "the
// ...".
GatewayError turned_away(routing::Cause cause, std::string_view who, const config::Chain& chain,
                         core::Duration wait);

}  // namespace weir::proxy
