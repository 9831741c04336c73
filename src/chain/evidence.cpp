#include "chain/evidence.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::chain {

std::string_view to_string(DisagreementKind kind) {
    switch (kind) {
        case DisagreementKind::lag:
            return "lag";
        case DisagreementKind::reorg:
            return "reorg";
        case DisagreementKind::regression:
            return "regression";
        case DisagreementKind::implausible_head:
            return "implausible_head";
        case DisagreementKind::wrong_network:
            return "wrong_network";
        case DisagreementKind::transaction_hash:
            return "transaction_hash";
    }
    return "other";
}

bool names_block(const Disagreement& disagreement) {
    return disagreement.kind != DisagreementKind::transaction_hash &&
           (disagreement.block.number != 0 || !disagreement.block.hash.empty());
}

Evidence::Evidence(const Evidence& before, std::span<const std::optional<std::size_t>> places)
    : voices_(places.size()), noted_(before.noted_) {
    const auto now_at = [&places](std::size_t place) -> std::optional<std::size_t> {
        const auto found = std::find(places.begin(), places.end(), std::optional(place));
        return found != places.end()
                   ? std::optional(static_cast<std::size_t>(std::distance(places.begin(), found)))
                   : std::nullopt;
    };
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i]) {
            voices_[i] = before.voices_[*places[i]];
        }
    }
    for (Disagreement each : before.kept_) {
        const auto upstream = now_at(each.upstream);
        if (upstream) {
            each.upstream = *upstream;
            each.other = each.other ? now_at(*each.other) : std::nullopt;
            kept_.push_back(std::move(each));
        }
    }
}

void Evidence::note(Disagreement disagreement) {
    disagreement.serial = ++noted_;
    kept_.push_back(std::move(disagreement));
    if (kept_.size() > kKept) {
        kept_.pop_front();
    }
}

const BlockId* Evidence::claim_of(const Voice& voice, std::uint64_t number) {
    const auto found = std::find_if(voice.claims.rbegin(), voice.claims.rend(),
                                    [number](const BlockId& b) { return b.number == number; });
    return found == voice.claims.rend() ? nullptr : &*found;
}

void Evidence::keep(Voice& voice, const BlockId& block) {
    std::erase_if(voice.claims, [&block](const BlockId& b) { return b.number == block.number; });
    voice.claims.push_back(block);
    if (voice.claims.size() > kClaims) {
        voice.claims.pop_front();
    }
}

// It says something else of a block than it said before.
bool Evidence::replaces_own(std::size_t upstream, const BlockId& block,
                            const Observation& observation) {
    const BlockId* const before = claim_of(voices_[upstream], block.number);
    if (before == nullptr || before->hash == block.hash) {
        return false;
    }
    note({.kind = DisagreementKind::reorg,
          .upstream = upstream,
          .block = block,
          .other = std::nullopt,
          .other_hash = before->hash,
          .detail = "it replaced a block of its own",
          .at = observation.at});
    return true;
}

bool Evidence::on_head(std::size_t upstream, const Observation& observation) {
    if (observation.latest.hash.empty()) {
        return false;
    }
    Voice& voice = voices_[upstream];
    const BlockId parent{observation.latest.number - 1, observation.parent_hash};
    const bool has_parent = observation.latest.number > 0 && !observation.parent_hash.empty();
    const std::uint64_t before = voice.claims.empty() ? 0 : voice.claims.back().number;
    const bool replaced = replaces_own(upstream, observation.latest, observation) ||
                          (has_parent && replaces_own(upstream, parent, observation));
    if (!replaced && observation.latest.number + kNoise < before) {
        note({.kind = DisagreementKind::regression,
              .upstream = upstream,
              .block = observation.latest,
              .other = std::nullopt,
              .other_hash = {},
              .detail = "its head fell back from block " + std::to_string(before),
              .at = observation.at});
    }
    compare(upstream, observation, replaced);
    if (has_parent) {
        keep(voice, parent);
    }
    keep(voice, observation.latest);
    name_minority(observation.latest);
    return replaced;
}

void Evidence::compare(std::size_t upstream, const Observation& observation, bool replaced) {
    Voice& voice = voices_[upstream];
    const BlockId& block = observation.latest;
    std::optional<std::size_t> other;
    for (std::size_t i = 0; i < voices_.size(); ++i) {
        const BlockId* const said = i == upstream ? nullptr : claim_of(voices_[i], block.number);
        if (said == nullptr) {
            continue;
        }
        if (said->hash == block.hash) {
            voice.apart = voices_[i].apart = 0;
            voice.told = voices_[i].told = false;
            return;
        }
        // What is said of one that is apart was said.
        other = voices_[i].differs ? other : std::optional(i);
    }
    if (!other || voice.differs || (voice.apart > 0 && block.number <= voice.apart_at)) {
        return;
    }
    ++voice.apart;
    voice.apart_at = block.number;
    const bool for_long = voice.apart == kHeightsApart && !std::exchange(voice.told, true);
    if ((voice.apart == 1 && !replaced) || for_long) {
        note({.kind = for_long ? DisagreementKind::wrong_network : DisagreementKind::reorg,
              .upstream = upstream,
              .block = block,
              .other = other,
              .other_hash = claim_of(voices_[*other], block.number)->hash,
              .detail = for_long
                            ? "other hashes at height after height: two networks or a long fork"
                            : "two upstreams name different blocks for one height",
              .at = observation.at});
    }
}

std::size_t Evidence::count_of(const BlockId& block) const {
    return static_cast<std::size_t>(
        std::count_if(voices_.begin(), voices_.end(), [&block](const Voice& voice) {
            const BlockId* const claim = claim_of(voice, block.number);
            return claim != nullptr && claim->hash == block.hash;
        }));
}

// Others have the block too: who says otherwise is the one that differs, whoever spoke first.
void Evidence::name_minority(const BlockId& block) {
    for (Disagreement& each : kept_) {
        if (each.other && each.block == block &&
            count_of(block) > count_of({block.number, each.other_hash})) {
            std::swap(each.upstream, *each.other);
            std::swap(each.block.hash, each.other_hash);
        }
    }
}

// The hash that a strict majority says of those who were there, or come there next, three of whom
// have spoken; empty where there is none.
std::string_view Evidence::majority_at(std::uint64_t number,
                                       const std::vector<bool>& counted) const {
    std::vector<std::string_view> said;
    std::size_t to_come = 0;
    for (std::size_t i = 0; i < voices_.size(); ++i) {
        if (!counted[i] || voices_[i].claims.empty()) {
            continue;
        }
        if (const BlockId* const claim = claim_of(voices_[i], number)) {
            said.emplace_back(claim->hash);
        } else if (voices_[i].claims.back().number < number) {
            ++to_come;
        }
    }
    if (said.size() < 3) {
        return {};
    }
    std::sort(said.begin(), said.end());
    const std::string_view middle = said[said.size() / 2];
    const auto alike = static_cast<std::size_t>(std::count(said.begin(), said.end(), middle));
    return 2 * alike > said.size() + to_come ? middle : std::string_view();
}

bool Evidence::agrees_with_another(std::size_t upstream, const BlockId& block,
                                   const std::vector<bool>& counted) const {
    for (std::size_t i = 0; i < voices_.size(); ++i) {
        const bool speaks = i != upstream && counted[i] && !voices_[i].differs;
        const BlockId* const said = speaks ? claim_of(voices_[i], block.number) : nullptr;
        if (said != nullptr && said->hash == block.hash) {
            return true;
        }
    }
    return false;
}

// Its blocks, newest first, as far back as something can be said of them.
bool Evidence::stands_apart(std::size_t upstream, const std::vector<bool>& counted) const {
    const Voice& voice = voices_[upstream];
    unsigned heights = 0;
    for (auto claim = voice.claims.rbegin(); claim != voice.claims.rend(); ++claim) {
        const std::string_view majority = majority_at(claim->number, counted);
        if (!majority.empty() && majority != claim->hash) {
            if (++heights == kHeightsApart) {
                return true;
            }
        } else if (!majority.empty() ||
                   (voice.differs && agrees_with_another(upstream, *claim, counted))) {
            return false;
        }
    }
    return voice.differs;  // nothing new is known
}

void Evidence::judge_apart(const std::vector<bool>& counted, core::TimePoint now) {
    std::vector<bool> apart(voices_.size(), false);
    for (std::size_t i = 0; i < voices_.size() && voices_.size() >= 3; ++i) {
        apart[i] = counted[i] ? stands_apart(i, counted) : voices_[i].differs;
    }
    for (std::size_t i = 0; i < voices_.size(); ++i) {
        const bool before = std::exchange(voices_[i].differs, apart[i]);
        if (apart[i] && !before && !std::exchange(voices_[i].told, true)) {
            tell_apart(i, counted, now);
        }
    }
}

void Evidence::tell_apart(std::size_t upstream, const std::vector<bool>& counted,
                          core::TimePoint now) {
    const auto& claims = voices_[upstream].claims;
    const auto newest = std::find_if(claims.rbegin(), claims.rend(), [&](const BlockId& block) {
        const std::string_view majority = majority_at(block.number, counted);
        return !majority.empty() && majority != block.hash;
    });
    if (newest == claims.rend()) {
        return;
    }
    const std::string_view majority = majority_at(newest->number, counted);
    std::optional<std::size_t> other;
    for (std::size_t i = 0; i < voices_.size() && !other; ++i) {
        const BlockId* const said = claim_of(voices_[i], newest->number);
        other = said != nullptr && said->hash == majority ? std::optional(i) : std::nullopt;
    }
    note({.kind = DisagreementKind::wrong_network,
          .upstream = upstream,
          .block = *newest,
          .other = other,
          .other_hash = std::string(majority),
          .detail = "other hashes than most others have, at height after height",
          .at = now});
}

bool Evidence::falls_ill(std::size_t upstream, DisagreementKind kind) {
    const bool news = voices_[upstream].ill != kind;
    voices_[upstream].ill = kind;
    return news;
}

void Evidence::on_lag(std::size_t upstream, std::uint64_t blocks, const BlockId& latest,
                      core::TimePoint now) {
    if (falls_ill(upstream, DisagreementKind::lag)) {
        note({.kind = DisagreementKind::lag,
              .upstream = upstream,
              .block = latest,
              .other = std::nullopt,
              .other_hash = {},
              .detail = std::to_string(blocks) + " blocks behind",
              .at = now});
    }
}

void Evidence::on_implausible(std::size_t upstream, const BlockId& latest, core::TimePoint now) {
    if (falls_ill(upstream, DisagreementKind::implausible_head)) {
        note({.kind = DisagreementKind::implausible_head,
              .upstream = upstream,
              .block = latest,
              .other = std::nullopt,
              .other_hash = {},
              .detail = "its head is implausibly far ahead of the others",
              .at = now});
    }
}

void Evidence::on_well(std::size_t upstream) { voices_[upstream].ill.reset(); }

}  // namespace weir::chain
