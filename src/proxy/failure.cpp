#include "proxy/failure.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace weir::proxy {
namespace {

using routing::Cause;
using Reason = routing::NoUpstream::Reason;

constexpr std::string_view kUpstream = "upstream";
constexpr core::Duration kShortestWait = std::chrono::milliseconds(1);

bool is_limited(const Ending& ending) {
    return ending.limited || ending.last_cause == Cause::rate_limited ||
           (ending.nobody && ending.nobody->reason == Reason::rate_limited);
}

bool is_spent(const Ending& ending) {
    return ending.last_cause == Cause::quota_exhausted ||
           (ending.nobody && ending.nobody->reason == Reason::quota_exhausted);
}

GatewayError make(ErrorType type, std::string message) {
    GatewayError error;
    error.type = type;
    error.message = std::move(message);
    return error;
}

// The one shape of "slow down", from the time at which capacity returns.
GatewayError rate_limited(const std::string& whose_limit, std::string_view scope,
                          const config::Chain& chain, core::Duration wait) {
    const core::Duration told =
        std::clamp(wait, kShortestWait, std::max(kShortestWait, chain.rate_limits.max_retry_after));
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(told).count();
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(told).count();
    GatewayError error =
        make(ErrorType::rate_limited, "429 Too Many Requests: " + whose_limit + "; retry in " +
                                          std::to_string(seconds) + " s");
    error.extra_data = R"("status":429,"scope":")" + std::string(scope) + R"(","retryAfterMs":)" +
                       std::to_string(milliseconds);
    error.retry_after_seconds = static_cast<unsigned>(seconds);
    return error;
}

// The gateway's own memory or descriptors are used up.
GatewayError no_room(const Ending& ending) {
    GatewayError error = make(ErrorType::overloaded,
                              ending.last_cause == Cause::connect_failed
                                  ? "the gateway has no descriptor left for a connection, nothing "
                                    "was sent; retry in a second"
                                  : "the gateway has no memory left for the reply; retry in a "
                                    "second");
    error.retry_after_seconds = 1;
    return error;
}

}  // namespace

GatewayError turned_away(Cause cause, std::string_view who, const config::Chain& chain,
                         core::Duration wait) {
    const std::string subject = std::string(who) + " of chain " + chain.name;
    if (cause == Cause::rate_limited) {
        return rate_limited(subject + " is rate limited and accepted nothing", kUpstream, chain,
                            wait);
    }
    if (cause == Cause::quota_exhausted) {
        return make(ErrorType::quota_exhausted,
                    subject +
                        " has spent its plan and accepted nothing; raise the plan or add an "
                        "upstream");
    }
    return make(ErrorType::no_upstream,
                subject +
                    " refused the gateway's credentials and accepted nothing; /api/status on the "
                    "admin listener says more");
}

GatewayError client_limited(std::string_view client, const config::Chain& chain,
                            core::Duration wait) {
    return rate_limited("the client " + std::string(client) + " calls faster than it may", "client",
                        chain, wait);
}

GatewayError client_overload(std::string_view client) {
    GatewayError error = make(ErrorType::overloaded,
                              "the client " + std::string(client) +
                                  " has as many requests in flight as leaves room for others; "
                                  "retry");
    error.retry_after_seconds = 1;
    return error;
}

GatewayError error_of(const Ending& ending, const config::Chain& chain, core::TimePoint now) {
    const bool bound = !ending.bound_to.empty();
    const std::string whose =
        (bound ? std::string(ending.bound_to) : "every upstream") + " of chain " + chain.name;
    if (ending.queue_full) {
        GatewayError error =
            make(ErrorType::overloaded,
                 "too many calls wait for an upstream of chain " + chain.name + "; retry");
        error.retry_after_seconds = 1;
        return error;
    }
    if (is_limited(ending)) {
        return rate_limited(
            whose + " is rate limited", kUpstream, chain,
            ending.available_at ? *ending.available_at - now : chain.rate_limits.default_cooldown);
    }
    if (is_spent(ending)) {
        return make(ErrorType::quota_exhausted,
                    (bound ? whose : "every usable upstream of chain " + chain.name) +
                        " has spent its plan; raise the plan or add an upstream");
    }
    if (ending.unsent_write && ending.no_room) {
        return no_room(ending);
    }
    if (ending.unsent_write && (ending.out_of_time || ending.last_cause)) {
        const std::string why = ending.out_of_time ? "in time" : "for want of a connection";
        return make(ErrorType::no_upstream,
                    "the call was not sent and may be sent again: " +
                        (bound ? whose + " could not take it "
                               : "no upstream of chain " + chain.name + " could take it ") +
                        why);
    }
    if (ending.out_of_time) {
        return make(ErrorType::deadline, "no upstream of chain " + chain.name +
                                             " answered in time; the call may be tried again");
    }
    if (ending.no_room) {
        return no_room(ending);
    }
    if (ending.last_cause && ending.retries_spent) {
        return make(ErrorType::bad_upstream_reply,
                    "an upstream of chain " + chain.name + " gave no usable reply (" +
                        std::string(routing::to_string(*ending.last_cause)) +
                        "), and so many calls are tried again already that this one is not; the "
                        "call may be tried again");
    }
    if (ending.last_cause && *ending.last_cause != Cause::auth_failed) {
        return make(ErrorType::bad_upstream_reply,
                    "no upstream of chain " + chain.name + " gave a usable reply (" +
                        std::string(routing::to_string(*ending.last_cause)) +
                        "); the call may be tried again");
    }
    if (ending.at_capacity) {
        GatewayError error =
            make(ErrorType::overloaded, whose + " has as many calls in flight as it may; retry");
        error.retry_after_seconds = 1;
        return error;
    }
    return make(ErrorType::no_upstream,
                (bound ? "the call was not sent: " + whose + " is not"
                       : "no upstream of chain " + chain.name + " is") +
                    " fit to serve; /api/status on the admin listener says why for each");
}

}  // namespace weir::proxy
