// Where upstreams contradicted each other or themselves: which of them, which block, when, and what
// it looks like; and who stands against all others. Bounded. Pure.
#pragma once

#include "chain/observation.hpp"
#include "core/time.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::chain {

enum class DisagreementKind : std::uint8_t {
    lag,               // behind by more than is tolerated
    reorg,             // another hash for a height, as when blocks are replaced
    regression,        // its own head stepped back farther than a cluster's noise
    implausible_head,  // so far ahead of everybody that it is not believed
    wrong_network,  // another chain id, another checkpoint, or other hashes at height after height
    transaction_hash,  // another hash for a transaction than its bytes have
};
std::string_view to_string(DisagreementKind kind);

struct Disagreement {
    DisagreementKind kind = DisagreementKind::reorg;
    std::size_t upstream = 0;
    BlockId block;                     // as it said
    std::optional<std::size_t> other;  // who said otherwise; nothing: itself, earlier
    std::string other_hash;            // what was said otherwise; may be empty
    std::string detail;                // for people
    core::TimePoint at;
    std::uint64_t serial = 0;  // counts all that were ever noted, from 1
};

// A chain id and a transaction's hash are of no block.
bool names_block(const Disagreement& disagreement);

class Evidence {
  public:
    static constexpr std::size_t kKept = 256;

    // A cluster steps back by so much without meaning anything by it.
    static constexpr std::uint64_t kNoise = 3;

    // Other hashes at so many heights in a row are no reorganisation any more.
    static constexpr unsigned kHeightsApart = 3;

    explicit Evidence(std::size_t upstreams) : voices_(upstreams) {}

    // What `before` holds, but for upstreams that are gone: for each one, which it was there.
    Evidence(const Evidence& before, std::span<const std::optional<std::size_t>> places);

    // A head, before or after it has been believed. Does it replace a block of the upstream's own?
    bool on_head(std::size_t upstream, const Observation& observation);

    // Noted once until the upstream is well again.
    void on_lag(std::size_t upstream, std::uint64_t blocks, const BlockId& latest,
                core::TimePoint now);
    void on_implausible(std::size_t upstream, const BlockId& latest, core::TimePoint now);
    void on_well(std::size_t upstream);

    void note(Disagreement disagreement);

    // Finds who is apart, after a head. `counted`: whose word counts, for each upstream.
    void judge_apart(const std::vector<bool>& counted, core::TimePoint now);

    // Its hashes are other ones than most others have, at kHeightsApart heights or more, of which
    // none is newer at which they agree. So until they do again. Never where fewer than three
    // speak.
    bool is_apart(std::size_t upstream) const { return voices_[upstream].differs; }

    const std::deque<Disagreement>& kept() const { return kept_; }  // oldest first

  private:
    // What one upstream said last, newest last; each keeps its own, so that none can push out
    // what another one said.
    struct Voice {
        std::deque<BlockId> claims;
        unsigned apart = 0;  // heights in a row at which nobody agreed and somebody disagreed
        std::uint64_t apart_at = 0;
        bool told = false;     // that it is no reorganisation any more
        bool differs = false;  // from what most others say
        std::optional<DisagreementKind> ill;
    };
    static constexpr std::size_t kClaims = 64;

    static const BlockId* claim_of(const Voice& voice, std::uint64_t number);
    bool replaces_own(std::size_t upstream, const BlockId& block, const Observation& observation);
    void compare(std::size_t upstream, const Observation& observation, bool replaced);
    std::string_view majority_at(std::uint64_t number, const std::vector<bool>& counted) const;
    bool agrees_with_another(std::size_t upstream, const BlockId& block,
                             const std::vector<bool>& counted) const;
    bool stands_apart(std::size_t upstream, const std::vector<bool>& counted) const;
    void tell_apart(std::size_t upstream, const std::vector<bool>& counted, core::TimePoint now);
    std::size_t count_of(const BlockId& block) const;
    void name_minority(const BlockId& block);
    static void keep(Voice& voice, const BlockId& block);
    bool falls_ill(std::size_t upstream, DisagreementKind kind);

    std::vector<Voice> voices_;
    std::deque<Disagreement> kept_;
    std::uint64_t noted_ = 0;
};

}  // namespace weir::chain
