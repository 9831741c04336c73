// What is believed of a chain, from what its upstreams say: which of them are on the right chain,
// where the head is, who is behind. Pure: observations and times in, beliefs out.
#pragma once

#include "chain/block_time.hpp"
#include "chain/evidence.hpp"
#include "chain/observation.hpp"
#include "chain/tagged_blocks.hpp"
#include "core/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weir::chain {

struct ChainRules {
    std::uint64_t chain_id = 0;
    std::size_t upstreams = 1;                 // configured; with one, its word is the chain
    std::optional<core::Duration> block_time;  // a hint; learned when left out
    std::uint64_t max_lag_blocks = 3;
    core::Duration max_lag_time = std::chrono::seconds(60);
    std::uint64_t max_jump_blocks = 64;
};

enum class Identity : std::uint8_t {
    unknown,  // not checked yet, or not since a connection was lost
    right,
    wrong,  // comes back after three good checks
};

enum class Standing : std::uint8_t {
    unknown,  // no head seen yet
    current,  // at the head, or behind it by what is tolerated
    lagging,
    implausible,  // so far ahead of everybody that it is not believed
};

class ChainView {
  public:
    explicit ChainView(const ChainRules& rules);

    // What `before` believed, under new rules: for each upstream, which one it was there.
    ChainView(const ChainRules& rules, const ChainView& before,
              std::span<const std::optional<std::size_t>> places);

    void observe_chain_id(std::size_t upstream, std::uint64_t chain_id, core::TimePoint now);

    // Its block at the checkpoint's height is another one: a wrong chain, whatever its id.
    void observe_wrong_checkpoint(std::size_t upstream, const BlockId& block, core::TimePoint now);

    // A connection was lost and another process may answer next: unknown until checked again.
    void doubt_identity(std::size_t upstream);

    void observe_head(std::size_t upstream, const Observation& observation);

    // An answer to a client showed the upstream's head; perhaps its number alone. It moves the head
    // forward only, and by what is plausible.
    void observe_answer(std::size_t upstream, const Observation& observation);

    // It was asked for its head and did not say, or may not be asked for a time: a head of its that
    // is not plausible has no say until it is heard again.
    void observe_silence(std::size_t upstream, core::TimePoint now);

    // What it names under a tag; nothing: it has no such tag.
    void observe_tag(std::size_t upstream, Tag tag, const std::optional<BlockId>& block,
                     core::TimePoint now);

    // Whether an upstream's word counts for the head: false while it is ill. True at first.
    void set_counted(std::size_t upstream, bool counted, core::TimePoint now);

    // Beliefs that change with time alone.
    void refresh(core::TimePoint now);

    Identity identity(std::size_t upstream) const { return members_[upstream].identity; }
    std::optional<std::uint64_t> reported_chain_id(std::size_t upstream) const;

    // Its hash is not known while its number alone was told.
    const std::optional<BlockId>& head() const { return head_; }
    // The newest block that is believed and known by its hash: the head, or shortly behind it.
    const std::optional<BlockId>& head_block() const { return head_block_; }
    core::TimePoint head_at() const { return head_at_; }  // when it was first seen

    // One of several upstreams says so, alone, and nothing bears it out: better than no head, and
    // dropped as soon as others speak.
    bool is_provisional() const { return provisional_; }

    // Two upstreams have reached the head.
    bool is_corroborated() const { return corroborated_; }

    // Grows when the chain itself fell back or was given up: what was told before does not bind.
    // When clusters step back a little, the head does too and this does not.
    std::uint64_t fall_backs() const { return fall_backs_; }

    // The newest block that is believed of somebody's answer.
    std::uint64_t highest_plausible(core::TimePoint now) const;

    const Evidence& evidence() const { return evidence_; }
    void note(Disagreement disagreement) { evidence_.note(std::move(disagreement)); }
    const std::optional<Observation>& latest(std::size_t upstream) const {
        return members_[upstream].latest;
    }

    const TaggedBlocks& tagged() const { return tagged_; }
    Settled settled() const;  // as far as it is believed; never beyond the head

    Standing standing(std::size_t upstream) const;

    // Its blocks are other ones than most others have, height after height: its word has no say.
    bool is_apart(std::size_t upstream) const { return evidence_.is_apart(upstream); }

    // Blocks behind the head, less what the upstream may have gained since it was last asked.
    std::uint64_t lag(std::size_t upstream) const;

    // Nobody reaches the newest head that was seen, for longer than is tolerated: the best left
    // stands for the chain.
    bool is_degraded() const { return abandoned_.has_value(); }

    core::Duration block_time() const { return block_time_.get(); }

    // Lags up to this count as current.
    std::uint64_t tolerated_lag() const;

  private:
    struct Member {
        Identity identity = Identity::unknown;
        std::optional<std::uint64_t> chain_id;
        unsigned good_checks = 0;  // in a row, while wrong
        bool counted = true;
        bool silent = false;  // since its latest head
        std::optional<Observation> latest;
        bool replaced = false;      // with it, a block of its own
        std::uint64_t highest = 0;  // of its own heads, since the last fall-back of the chain
    };

    bool is_plausible(const Observation& observation) const;
    std::vector<const Member*> voters() const;  // highest head first
    struct Candidate {
        const Member* member = nullptr;
        bool borne_out = false;  // by more than its own word and what a lone head is allowed
    };
    Candidate candidate(const std::vector<const Member*>& voters, core::TimePoint now) const;
    static const Observation& named(const std::vector<const Member*>& voters, const Member& chosen);
    bool agree(const Observation& high, const Observation& low) const;
    std::uint64_t plausible_jump(core::TimePoint since, core::TimePoint now) const;
    bool is_sequel(std::uint64_t number, core::TimePoint now) const;
    void judge_apart(core::TimePoint now);
    bool has_say(std::size_t upstream) const;
    void hear(std::size_t upstream, const Observation& observation, std::uint64_t highest);
    void decide(const std::vector<const Member*>& counted, const Observation& observation,
                core::TimePoint now);
    bool is_noise(const std::vector<const Member*>& counted, std::uint64_t number,
                  core::TimePoint now) const;
    void set_head(const Observation& observation);
    void recompute(core::TimePoint now);
    void note_standings(core::TimePoint now);
    void adopt(const Observation& observation, core::TimePoint now);
    void give_way(const Observation& observation, core::TimePoint now);
    void fall_back(const Observation& observation, core::TimePoint now);

    ChainRules rules_;
    std::vector<Member> members_;
    std::optional<BlockId> head_;
    std::optional<BlockId> head_block_;
    core::TimePoint head_at_{};
    bool confirmed_ = false;     // the head follows from one that more than one had a say in
    bool corroborated_ = false;  // two upstreams have reached the head
    bool provisional_ = false;
    std::uint64_t fall_backs_ = 0;
    std::optional<std::uint64_t> abandoned_;  // the head that nobody left reaches
    // All upstreams' heads are lower than one that two had reached.
    struct StepBack {
        std::uint64_t from = 0;
        core::TimePoint at;
    };
    std::optional<StepBack> stepped_back_;
    core::TimePoint alone_since_{};  // since when fewer than two upstreams count

    struct Footing {
        std::uint64_t number = 0;
        core::TimePoint at;
    };
    Footing footing_;  // the newest head that does not rest on one upstream's word, and since when

    BlockTime block_time_;
    Evidence evidence_;
    TaggedBlocks tagged_;
};

}  // namespace weir::chain
