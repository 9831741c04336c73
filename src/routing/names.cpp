// The names of the enums as metrics, logs and the status page spell them.
#include "routing/snapshot.hpp"
#include "routing/verdict.hpp"

#include <array>

namespace weir::routing {

std::string_view to_string(Cause cause) {
    constexpr std::array<std::string_view, kCauses> kNames = {
        "answered",           "reverted",      "invalid_params",  "nonce_too_low",
        "already_known",      "underpriced",   "tx_rejected",     "rate_limited",
        "quota_exhausted",    "auth_failed",   "batch_too_large", "method_unsupported",
        "plan_lacks_method",  "state_missing", "block_unknown",   "range_too_large",
        "response_too_large", "timeout",       "connect_failed",  "connection_lost",
        "bad_reply",          "server_error",  "unknown"};
    return kNames[static_cast<std::size_t>(cause)];
}

std::string_view to_string(UpstreamState state) {
    constexpr std::array<std::string_view, 9> kNames = {
        "fit",         "lagging",      "wrong_chain", "cooling_down", "quota_spent",
        "auth_failed", "circuit_open", "unknown",     "drained"};
    return kNames[static_cast<std::size_t>(state)];
}

std::string_view to_string(ChainState state) {
    constexpr std::array<std::string_view, 3> kNames = {"ok", "degraded", "down"};
    return kNames[static_cast<std::size_t>(state)];
}

}  // namespace weir::routing
