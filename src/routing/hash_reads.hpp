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

    // It says of a block that it has that it knows no such one. One that has never served the
    // method by hash and says so again and again takes every hash for one.
    void miss(UpstreamIndex upstream, const MethodTraits& traits, core::TimePoint now);

    // An upstream was asked by the method for a block that nobody has.
    enum class Trial : std::uint8_t {
        unknown_block,  // as it should; until then nothing is asked by hash in a number's place
        answered,       // it does not look at the hash: what it says is of another block
        refused,        // it does not take it, or the method
        unclear,        // it did not say; to be tried again soon
    };
    void note_trial(UpstreamIndex upstream, const MethodTraits& traits, Trial trial,
                    core::TimePoint now);
    // It gave no answer to a trial: no other one is made there for a moment.
    void note_silence(UpstreamIndex upstream, core::TimePoint now);
    bool needs_trial(UpstreamIndex upstream, const MethodTraits& traits, core::TimePoint now) const;

    bool takes(UpstreamIndex upstream, const MethodTraits& traits, core::TimePoint now) const;

  private:
    static constexpr unsigned kCertain = 2;
    static constexpr unsigned kMisses = 8;

    using Key = std::pair<UpstreamIndex, std::size_t>;  // with the method's number

    struct Refused {
        unsigned times = 0;
        core::TimePoint until;
    };
    struct Tried {
        Trial trial = Trial::unclear;
        core::TimePoint until;
        bool served = false;  // since then
        unsigned misses = 0;
    };
    std::map<Key, Refused> refused_;
    std::map<Key, Tried> trials_;
    std::map<UpstreamIndex, core::TimePoint> silent_;  // until when
};

}  // namespace weir::routing
