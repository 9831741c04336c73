#include "routing/hash_reads.hpp"

namespace weir::routing {

void HashReads::refuse(UpstreamIndex upstream, const MethodTraits& traits, Refusal refusal,
                       core::TimePoint now) {
    Refused& entry = refused_[{upstream, method_number(traits)}];
    if (entry.until <= now) {
        entry.times = 0;
    }
    entry.times += refusal == Refusal::plain ? kCertain : 1;
    entry.until = now + kRefusalKept;
}

void HashReads::serve(UpstreamIndex upstream, const MethodTraits& traits) {
    refused_.erase({upstream, method_number(traits)});
}

void HashReads::note_trial(UpstreamIndex upstream, Trial trial, core::TimePoint now) {
    trials_[upstream] = {trial, now + (trial == Trial::unclear ? kUnclearKept : kTrialKept)};
}

bool HashReads::needs_trial(UpstreamIndex upstream, core::TimePoint now) const {
    const auto known = trials_.find(upstream);
    return known == trials_.end() || known->second.until <= now;
}

bool HashReads::takes(UpstreamIndex upstream, const MethodTraits& traits,
                      core::TimePoint now) const {
    if (traits.by_hash == ByHash::object) {
        const auto trial = trials_.find(upstream);
        if (trial == trials_.end() || trial->second.trial != Trial::refused) {
            return false;
        }
    }
    const auto refused = refused_.find({upstream, method_number(traits)});
    return refused == refused_.end() || refused->second.until <= now ||
           refused->second.times < kCertain;
}

}  // namespace weir::routing
