#include "routing/hash_reads.hpp"

namespace weir::routing {
namespace {

// In the place of a number, or in a filter, a hash may be overlooked; under a method of its own it
// cannot.
bool is_tried(const MethodTraits& traits) {
    return traits.by_hash == ByHash::object || traits.by_hash == ByHash::filter;
}

core::Duration kept(HashReads::Trial trial) {
    switch (trial) {
        case HashReads::Trial::unknown_block:
        case HashReads::Trial::answered:
            return HashReads::kTrialKept;
        case HashReads::Trial::refused:
            return HashReads::kRefusalKept;
        case HashReads::Trial::unclear:
            break;
    }
    return HashReads::kUnclearKept;
}

}  // namespace

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
    const Key key{upstream, method_number(traits)};
    refused_.erase(key);
    if (const auto tried = trials_.find(key); tried != trials_.end()) {
        tried->second.served = true;
    }
}

void HashReads::miss(UpstreamIndex upstream, const MethodTraits& traits, core::TimePoint now) {
    const auto tried = trials_.find({upstream, method_number(traits)});
    if (tried != trials_.end() && !tried->second.served && ++tried->second.misses == kMisses) {
        tried->second = {.trial = Trial::refused, .until = now + kept(Trial::refused)};
    }
}

void HashReads::note_trial(UpstreamIndex upstream, const MethodTraits& traits, Trial trial,
                           core::TimePoint now) {
    trials_[{upstream, method_number(traits)}] = {.trial = trial, .until = now + kept(trial)};
}

void HashReads::note_silence(UpstreamIndex upstream, core::TimePoint now) {
    silent_[upstream] = now + kUnclearKept;
}

bool HashReads::needs_trial(UpstreamIndex upstream, const MethodTraits& traits,
                            core::TimePoint now) const {
    if (!is_tried(traits)) {
        return false;
    }
    if (const auto silent = silent_.find(upstream);
        silent != silent_.end() && now < silent->second) {
        return false;
    }
    const auto known = trials_.find({upstream, method_number(traits)});
    return known == trials_.end() || known->second.until <= now;
}

bool HashReads::takes(UpstreamIndex upstream, const MethodTraits& traits,
                      core::TimePoint now) const {
    const Key key{upstream, method_number(traits)};
    if (is_tried(traits)) {
        const auto tried = trials_.find(key);
        if (tried == trials_.end() || tried->second.trial != Trial::unknown_block) {
            return false;
        }
    }
    const auto refused = refused_.find(key);
    return refused == refused_.end() || refused->second.until <= now ||
           refused->second.times < kCertain;
}

}  // namespace weir::routing
