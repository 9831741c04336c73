#include "chain/chain_view.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace weir::chain {
namespace {

using std::chrono::seconds;

constexpr unsigned kGoodChecks = 3;

// On fast chains a lag below this is tolerated, however many blocks it is.
constexpr core::Duration kToleratedLag = seconds(6);

// An upstream that was asked longer ago than this before the head was seen gets no further grace.
constexpr core::Duration kLongestGrace = seconds(15);

constexpr std::uint64_t kClockSkewSeconds = 60;

// The newest block of a chain that lives is not older than this.
constexpr std::uint64_t kFreshSeconds = 600;

}  // namespace

ChainView::ChainView(const ChainRules& rules)
    : rules_(rules),
      members_(rules.upstreams),
      block_time_(rules.block_time),
      evidence_(rules.upstreams),
      tagged_(rules.upstreams) {}

ChainView::ChainView(const ChainRules& rules, const ChainView& before,
                     std::span<const std::optional<std::size_t>> places)
    : ChainView(before) {
    rules_ = rules;
    members_.assign(rules.upstreams, Member{});
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (places[i]) {
            members_[i] = before.members_[*places[i]];
        }
    }
    evidence_ = Evidence(before.evidence_, places);
    tagged_ = TaggedBlocks(before.tagged_, places);
}

void ChainView::observe_chain_id(std::size_t upstream, std::uint64_t chain_id,
                                 core::TimePoint now) {
    Member& member = members_[upstream];
    member.chain_id = chain_id;
    if (chain_id != rules_.chain_id) {
        if (member.identity != Identity::wrong) {
            evidence_.note({.kind = DisagreementKind::wrong_network,
                            .upstream = upstream,
                            .block = {},
                            .other = std::nullopt,
                            .other_hash = {},
                            .detail = "says chain id " + std::to_string(chain_id) + ", not " +
                                      std::to_string(rules_.chain_id),
                            .at = now});
        }
        member.identity = Identity::wrong;
        member.good_checks = 0;
        return;
    }
    if (member.identity == Identity::wrong && ++member.good_checks < kGoodChecks) {
        return;
    }
    member.identity = Identity::right;
}

void ChainView::observe_wrong_checkpoint(std::size_t upstream, const BlockId& block,
                                         core::TimePoint now) {
    Member& member = members_[upstream];
    if (member.identity != Identity::wrong) {
        evidence_.note({.kind = DisagreementKind::wrong_network,
                        .upstream = upstream,
                        .block = block,
                        .other = std::nullopt,
                        .other_hash = {},
                        .detail = "its block at the checkpoint's height is another one",
                        .at = now});
    }
    member.identity = Identity::wrong;
    member.good_checks = 0;
}

void ChainView::doubt_identity(std::size_t upstream) {
    Member& member = members_[upstream];
    if (member.identity == Identity::right) {
        member.identity = Identity::unknown;
    }
    member.good_checks = 0;
}

void ChainView::observe_head(std::size_t upstream, const Observation& observation) {
    hear(upstream, observation, observation.latest.number);
}

// Answers overlap and come late, and a cluster's nodes differ: an older head says nothing.
void ChainView::observe_answer(std::size_t upstream, const Observation& observation) {
    const Member& member = members_[upstream];
    const std::uint64_t number = observation.latest.number;
    if (member.identity != Identity::right || !member.latest ||
        number < member.latest->latest.number || number > highest_plausible(observation.at)) {
        return;
    }
    Observation word = observation;
    if (word.latest.hash.empty() && number == member.latest->latest.number) {
        word = *member.latest;
        word.at = observation.at;
        word.wall = observation.wall;
    }
    hear(upstream, word, number - std::min(number, Evidence::kNoise));
}

// `highest`: what it falls back from when it is heard of below that.
void ChainView::hear(std::size_t upstream, const Observation& observation, std::uint64_t highest) {
    Member& member = members_[upstream];
    const bool news = !member.latest || member.latest->latest != observation.latest ||
                      member.latest->parent_hash != observation.parent_hash;
    member.replaced = evidence_.on_head(upstream, observation);
    member.latest = observation;
    if (news && !observation.latest.hash.empty()) {
        judge_apart(observation.at);
    }
    member.silent = false;
    member.highest = std::max(member.highest, highest);
    recompute(observation.at);
    note_standings(observation.at);
}

void ChainView::judge_apart(core::TimePoint now) {
    std::vector<bool> counted;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        counted.push_back(members_[i].identity == Identity::right && members_[i].counted &&
                          standing(i) == Standing::current);
    }
    evidence_.judge_apart(counted, now);
}

bool ChainView::has_say(std::size_t upstream) const {
    const Member& member = members_[upstream];
    return member.identity == Identity::right && member.counted && member.latest &&
           !evidence_.is_apart(upstream);
}

void ChainView::observe_silence(std::size_t upstream, core::TimePoint now) {
    if (!members_[upstream].silent) {
        members_[upstream].silent = true;
        recompute(now);
    }
}

// Who has fallen behind, or ran ahead, by what is believed now.
void ChainView::note_standings(core::TimePoint now) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (members_[i].identity != Identity::right || !members_[i].latest) {
            continue;
        }
        const BlockId& latest = members_[i].latest->latest;
        switch (standing(i)) {
            case Standing::lagging:
                evidence_.on_lag(i, lag(i), latest, now);
                break;
            case Standing::implausible:
                evidence_.on_implausible(i, latest, now);
                break;
            case Standing::current:
            case Standing::unknown:
                evidence_.on_well(i);
                break;
        }
    }
}

void ChainView::observe_tag(std::size_t upstream, Tag tag, const std::optional<BlockId>& block,
                            core::TimePoint now) {
    if (!block) {
        tagged_.observe_lack(upstream, tag);
        return;
    }
    const std::optional<TaggedBlock> before = tagged_.of(upstream).get(tag);
    tagged_.observe(upstream, tag, {*block, now});
    const std::optional<std::size_t> other = tagged_.denier(upstream, tag);
    if (tag == Tag::finalized && other && (!before || before->block != *block)) {
        evidence_.note({.kind = DisagreementKind::wrong_network,
                        .upstream = upstream,
                        .block = *block,
                        .other = other,
                        .other_hash = tagged_.of(*other).get(tag)->block.hash,
                        .detail = "two upstreams name different blocks as finalized",
                        .at = now});
    }
}

Settled ChainView::settled() const {
    std::vector<TagVoter> voters;
    for (std::size_t i = 0; i < members_.size() && head_; ++i) {
        if (has_say(i)) {
            voters.push_back({i, std::min(members_[i].latest->latest.number, head_->number)});
        }
    }
    return {.safe = tagged_.believed(Tag::safe, voters),
            .finalized = tagged_.believed(Tag::finalized, voters)};
}

void ChainView::set_counted(std::size_t upstream, bool counted, core::TimePoint now) {
    if (members_[upstream].counted != counted) {
        members_[upstream].counted = counted;
        recompute(now);
    }
}

void ChainView::refresh(core::TimePoint now) {
    recompute(now);
    note_standings(now);
}

std::optional<std::uint64_t> ChainView::reported_chain_id(std::size_t upstream) const {
    return members_[upstream].chain_id;
}

std::uint64_t ChainView::tolerated_lag() const {
    const auto fast =
        static_cast<std::uint64_t>((kToleratedLag - core::Duration(1)) / block_time());
    return std::max(rules_.max_lag_blocks, fast);
}

std::uint64_t ChainView::lag(std::size_t upstream) const {
    const Member& member = members_[upstream];
    if (!head_ || !member.latest || rules_.upstreams == 1 ||
        member.latest->latest.number >= head_->number) {
        return 0;
    }
    const std::uint64_t behind = head_->number - member.latest->latest.number;
    const core::Duration since =
        std::clamp(head_at_ - member.latest->at, core::Duration::zero(), kLongestGrace);
    const auto grace =
        static_cast<std::uint64_t>((since + block_time() - core::Duration(1)) / block_time());
    return behind > grace ? behind - grace : 0;
}

Standing ChainView::standing(std::size_t upstream) const {
    const Member& member = members_[upstream];
    if (!member.latest) {
        return Standing::unknown;
    }
    if (rules_.upstreams == 1 || !head_) {
        return Standing::current;
    }
    if (!is_plausible(*member.latest)) {
        return Standing::implausible;
    }
    return lag(upstream) <= tolerated_lag() ? Standing::current : Standing::lagging;
}

bool ChainView::is_plausible(const Observation& observation) const {
    return !head_ ||
           observation.latest.number <= head_->number + plausible_jump(head_at_, observation.at);
}

// Two that made up their heads one after the other do not bear each other out: such a word is one
// only as long as it is held up.
std::vector<const ChainView::Member*> ChainView::voters() const {
    std::vector<const Member*> voters;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (has_say(i) && (!members_[i].silent || is_plausible(*members_[i].latest))) {
            voters.push_back(&members_[i]);
        }
    }
    std::sort(voters.begin(), voters.end(), [](const Member* a, const Member* b) {
        return a->latest->latest.number > b->latest->latest.number;
    });
    return voters;
}

// How many blocks may have come since then.
std::uint64_t ChainView::plausible_jump(core::TimePoint since, core::TimePoint now) const {
    const core::Duration passed = std::max(now - since, core::Duration::zero());
    return std::max(rules_.max_jump_blocks, static_cast<std::uint64_t>(2 * passed / block_time()));
}

// May one upstream alone be believed that the chain has come so far? Measured from what is more
// than its word, so that it cannot lead the others away step by step.
bool ChainView::is_sequel(std::uint64_t number, core::TimePoint now) const {
    return head_ && (number <= head_->number ||
                     number <= footing_.number + plausible_jump(footing_.at, now));
}

std::uint64_t ChainView::highest_plausible(core::TimePoint now) const {
    constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
    return rules_.upstreams == 1 || !head_ ? kAny : head_->number + plausible_jump(head_at_, now);
}

// Do the blocks' own times explain how far apart two heads are? A node that is still syncing looks
// so from above; a head that was made up does not, nor does one that lies in the future or that is
// long past.
bool ChainView::agree(const Observation& high, const Observation& low) const {
    if (low.timestamp == 0 || high.wall == 0 || high.timestamp <= low.timestamp ||
        high.timestamp > high.wall + kClockSkewSeconds ||
        high.timestamp + kFreshSeconds < high.wall) {
        return false;
    }
    const auto blocks = static_cast<double>(high.latest.number - low.latest.number);
    const double apart = static_cast<double>(high.timestamp - low.timestamp) / blocks;
    if (!block_time_.is_known()) {
        return apart > 0.1 && apart < 30;
    }
    const double expected = std::chrono::duration<double>(block_time()).count();
    return apart > expected / 2 && apart < expected * 2;
}

ChainView::Candidate ChainView::candidate(const std::vector<const Member*>& voters,
                                          core::TimePoint now) const {
    if (rules_.upstreams == 1) {
        return {voters.front(), true};
    }
    if (voters.size() >= 3) {
        return {voters[1], true};  // the highest block that two reach
    }
    const Member* highest = voters.front();
    const std::uint64_t number = highest->latest->latest.number;
    if (!head_ && voters.size() == 1) {
        return {highest, true};
    }
    const bool sequel = is_sequel(number, now);
    if (voters.size() == 2) {
        const Observation& other = *voters[1]->latest;
        if (agree(*highest->latest, other)) {
            return {highest, true};
        }
        const bool near = number - other.latest.number <= rules_.max_jump_blocks;
        return near || (sequel && confirmed_) ? Candidate{highest, false}
                                              : Candidate{voters[1], true};
    }
    if (sequel) {
        return {highest, false};
    }
    // Alone with a jump that time does not explain: believed when nobody comes back to deny it.
    return {now - alone_since_ >= rules_.max_lag_time ? highest : nullptr, true};
}

void ChainView::recompute(core::TimePoint now) {
    const std::vector<const Member*> counted = voters();
    if (counted.size() != 1 || alone_since_ == core::TimePoint{}) {
        alone_since_ = now;
    }
    if (counted.empty()) {
        return;
    }
    const Candidate chosen = candidate(counted, now);
    if (chosen.member == nullptr) {
        return;
    }
    decide(counted, named(counted, *chosen.member), now);
    const std::uint64_t of_two = counted.size() > 1 ? counted[1]->latest->latest.number : 0;
    const std::uint64_t number = chosen.borne_out ? chosen.member->latest->latest.number : of_two;
    if (number > footing_.number && number <= head_->number) {
        footing_ = {number, now};
    }
}

// The same height as somebody knows it by its hash; as it is where nobody does.
const Observation& ChainView::named(const std::vector<const Member*>& voters,
                                    const Member& chosen) {
    const BlockId& block = chosen.latest->latest;
    for (const Member* each : voters) {
        if (block.hash.empty() && !each->latest->latest.hash.empty() &&
            each->latest->latest.number == block.number) {
            return *each->latest;
        }
    }
    return *chosen.latest;
}

}  // namespace weir::chain
