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
    const auto found = std::find_if(voice.claims.begin(), voice.claims.end(),
                                    [number](const BlockId& b) { return b.number == number; });
    return found == voice.claims.end() ? nullptr : &*found;
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
            voice.apart = 0;
            voices_[i].apart = 0;
            return;
        }
        other = i;
    }
    if (!other || (voice.apart > 0 && block.number <= voice.apart_at)) {
        return;
    }
    ++voice.apart;
    voice.apart_at = block.number;
    const bool for_long = voice.apart == kHeightsApart;
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
