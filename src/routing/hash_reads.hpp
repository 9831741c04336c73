// Which upstreams take a block's hash, as was learned from what they said; by method. Bounded by
// the method table; what was learned expires. Not synchronized; time is a parameter.
#pragma once

#include "core/time.hpp"
#include "routing/methods.hpp"
#include "routing/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace weir::routing {

class HashReads {
  public:
    static constexpr core::Duration kRefusalKept = std::chrono::minutes(10);
    static constexpr core::Duration kTrialKept = std::chrono::hours(1);
    static constexpr core::Duration kUnclearKept = std::chrono::seconds(5);

    // A read was refused by hash and served by number. What could have passed by itself has to
    // come twice.
    enum class Refusal : std::uint8_t { plain, vague };
    void refuse(UpstreamIndex upstream, const MethodTraits& traits, Refusal refusal,
                core::TimePoint now);
    void serve(UpstreamIndex upstream, const MethodTraits& traits);

    // An upstream was asked for the state of a block that nobody has.
    enum class Trial : std::uint8_t {
        refused,   // as it should; until then nothing is asked by hash in the place of a number
        answered,  // it does not look at the hash: what it says is of another block
        unclear,   // it did not say; to be tried again soon
    };
    void note_trial(UpstreamIndex upstream, Trial trial, core::TimePoint now);
    bool needs_trial(UpstreamIndex upstream, core::TimePoint now) const;

    bool takes(UpstreamIndex upstream, const MethodTraits& traits, core::TimePoint now) const;

  private:
    static constexpr unsigned kCertain = 2;

    struct Refused {
        unsigned times = 0;
        core::TimePoint until;
    };
    struct Tried {
        Trial trial = Trial::unclear;
        core::TimePoint until;
    };
    std::map<std::pair<UpstreamIndex, std::size_t>, Refused> refused_;  // by the method's number
    std::map<UpstreamIndex, Tried> trials_;
};

}  // namespace weir::routing
