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
    double score = 1;                    // 0 to 1, for calls of the fast time class
    double slow_score = 1;               // and of the slow one
    std::optional<chain::BlockId> head;  // as it said last; its hash may not be known
    std::string head_parent;             // the hash of the block before it; may be empty
    core::TimePoint head_at{};           // and when
    // The newest block it was seen to have, and when; nothing where no head rule holds.
    struct Reach {
        std::uint64_t number = 0;
        core::TimePoint at{};
    };
    std::optional<Reach> reach;
    chain::Settled settled;  // what it names as safe and finalized
    std::uint64_t lag_blocks = 0;
    bool implausible = false;  // so far ahead that it is not believed
    bool apart = false;        // its blocks are other ones than most others have
    std::optional<std::uint64_t>
        history;                     // recent blocks whose state it keeps; empty: no end known
    core::Duration hedge_after{};    // most of its answers have come by then; 0: not known
    core::TimePoint available_at{};  // end of a cool-down; in the past: now
    bool slow_circuit_open = false;  // for calls of the slow time class only
    bool in_doubt = false;           // fit for a trial alone: nothing was good since it failed
    bool trickle = false;            // new or recovering: a small share of traffic
    std::vector<std::string> unsupported_methods;  // learned, with an expiry kept by the pool
    std::shared_ptr<const MethodPolicy> policy;    // configured allow and deny lists; null: all
};

enum class ChainState : std::uint8_t { ok, degraded, down };
std::string_view to_string(ChainState state);

struct RoutingSnapshot {
    ChainState state = ChainState::down;
    std::optional<chain::BlockId> head;  // its hash may not be known yet
    // The newest believed block whose hash is known: the head, or shortly behind it.
    std::optional<chain::BlockId> head_block;
    core::TimePoint head_at{};  // when the head was first seen
    chain::Settled settled;     // what is believed to be safe and finalized; never beyond the head
    core::Duration block_time = std::chrono::seconds(12);
    std::uint64_t max_jump_blocks = 64;
    bool provisional = false;      // the head is one voice of several, and nothing bears it out
    std::uint64_t fall_backs = 0;  // grows when the chain fell back or was given up
    std::vector<UpstreamView> upstreams;
};

// The newest block that is believed of an answer. A head that is seen later than `now` has no say.
std::uint64_t highest_plausible(const RoutingSnapshot& pool, core::TimePoint now);

}  // namespace weir::routing
