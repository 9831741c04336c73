// One immutable picture of a chain's upstreams. A request takes it once and keeps it to the end.
#pragma once

#include "chain/observation.hpp"
#include "config/config.hpp"
#include "core/time.hpp"
#include "routing/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

// A place in the chain's list of upstreams, as configured.
using UpstreamIndex = std::size_t;
constexpr std::size_t kMaxUpstreams = config::kMaxUpstreams;

enum class UpstreamState : std::uint8_t {
    fit,
    lagging,
    wrong_chain,
    cooling_down,
    quota_spent,
    auth_failed,
    circuit_open,
    unknown,
    drained,
};
std::string_view to_string(UpstreamState state);

struct UpstreamView {
    UpstreamState state = UpstreamState::unknown;
    std::string reason;       // for people: why it is where it is
    bool identified = false;  // on the right chain by its latest check; else no client byte
    unsigned tier = 0;
    double weight = 1;
    double score = 1;       // 0 to 1, for calls of the fast time class
    double slow_score = 1;  // and of the slow one
    std::optional<chain::BlockId> head;
    core::TimePoint available_at{};                // end of a cool-down; in the past: now
    bool slow_circuit_open = false;                // for calls of the slow time class only
    bool trickle = false;                          // new or recovering: a small share of traffic
    std::vector<std::string> unsupported_methods;  // learned, with an expiry kept by the pool
    std::shared_ptr<const MethodPolicy> policy;    // configured allow and deny lists; null: all
};

enum class ChainState : std::uint8_t { ok, degraded, down };
std::string_view to_string(ChainState state);

struct RoutingSnapshot {
    ChainState state = ChainState::down;
    std::optional<chain::BlockId> head;
    core::TimePoint head_at{};  // when the head was first seen
    std::vector<UpstreamView> upstreams;
};

}  // namespace weir::routing
