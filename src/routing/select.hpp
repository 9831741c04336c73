// Which upstream gets a call. Pure: the snapshot, what was tried and a random number in.
#pragma once

#include "routing/block_need.hpp"
#include "routing/snapshot.hpp"

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace weir::routing {

using Tried = std::bitset<kMaxUpstreams>;

struct Need {
    std::string_view method;  // as the client wrote it
    const MethodTraits* traits = nullptr;
    // A cool-down that ends within so long is waited for; a longer one lets second choices serve.
    core::Duration patience = std::chrono::seconds(3);
    BlockNeed block = {};
    std::uint64_t served = 0;  // the newest head that was given out; 0: none that binds
    // Did not answer just now when others did, and said just now that it has not the block: a
    // second choice and one of the last.
    Tried late = {};
    Tried lacking = {};
    std::string_view twin = {};  // what the call may be asked as, too
};

// Why there is none.
struct NoUpstream {
    enum class Reason : std::uint8_t {
        unfit,               // none is fit: wrong chain, down, drained, credentials refused
        rate_limited,        // those that could serve cool down; `available_at` says until when
        quota_exhausted,     // every usable one has spent its plan
        method_unsupported,  // those that are fit lack the method
        all_tried,           // every fit one was tried
    } reason = Reason::unfit;
    core::TimePoint available_at{};
    Tried cooling;  // those that could serve after their cool-down, tried or not
};

// The lowest usable tier, then weight times score between two random fit candidates. `random` is 64
// uniform bits.
std::variant<UpstreamIndex, NoUpstream> select(const RoutingSnapshot& pool, const Need& need,
                                               const Tried& tried, core::TimePoint now,
                                               std::uint64_t random);

// For calls that should stay together: `kept` while nothing speaks against it, else the best one of
// the lowest tier, else as select() says. `kept` may be no upstream's place.
std::variant<UpstreamIndex, NoUpstream> select_kept(const RoutingSnapshot& pool, const Need& need,
                                                    const Tried& tried, UpstreamIndex kept,
                                                    core::TimePoint now);

// Of those that did not answer, the ones in whose tier another did: no cause to leave a tier.
Tried outdone(const RoutingSnapshot& pool, const Tried& answered, const Tried& silent);

// The fit upstreams of the lowest tier that has one, but for those `tried`; none when only second
// choices are left.
Tried first_choices(const RoutingSnapshot& pool, const Need& need, const Tried& tried,
                    core::TimePoint now);

}  // namespace weir::routing
