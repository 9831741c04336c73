#include "routing/select.hpp"

#include "routing/score.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace weir::routing {
namespace {

// How an upstream may serve a call, best first.
enum class Rank : std::uint8_t {
    good,     // has the block, and nothing speaks against it
    second,   // fit, but not at the newest head, or late just now
    perhaps,  // fit, and may have got the block by now
    beyond,   // fit, and cannot have the block yet: its own answer will say so
    apart,    // fit, but its blocks are other ones than most others have
    lacks,    // said that it lacks the method or the block, keeps no state so old, or is slow at
              // calls like this
    behind,   // fit but for its lag
    ill,      // its circuit is open: the least bad serves when nobody else can
    cooling,  // not before `available_at`
    spent,    // its plan is spent
    policy,   // the operator keeps this method from it
    unfit,    // wrong chain, unknown, credentials refused, drained
};

bool lacks_method(const UpstreamView& upstream, std::string_view method) {
    return std::find(upstream.unsupported_methods.begin(), upstream.unsupported_methods.end(),
                     method) != upstream.unsupported_methods.end();
}

bool is_allowed(const UpstreamView& upstream, const Need& need) {
    return !upstream.policy || upstream.policy->allows(*need.traits, need.method) ||
           (!need.twin.empty() && upstream.policy->allows(find_method(need.twin), need.twin));
}

bool is_slow(const Need& need) { return need.traits->time_class == TimeClass::slow; }

// Blocks that may have come since the upstream was last seen to have `reach`.
std::uint64_t gain(const RoutingSnapshot& pool, const UpstreamView::Reach& reach,
                   core::TimePoint now) {
    const core::Duration since = std::max(now - reach.at, core::Duration::zero());
    return static_cast<std::uint64_t>(since / std::max(pool.block_time, core::Duration(1)));
}

bool has_number(const UpstreamView& upstream, const BlockNeed& block) {
    return block.kind == BlockNeed::Kind::number && upstream.reach &&
           upstream.reach->number >= block.number;
}

bool keeps_state(const RoutingSnapshot& pool, const UpstreamView& upstream,
                 const BlockNeed& block) {
    if (!block.state || block.kind != BlockNeed::Kind::number || !upstream.history || !pool.head) {
        return true;
    }
    return pool.head->number < block.number + *upstream.history;
}

// Of an upstream that may serve, whatever its blocks are.
Rank rank_by_block(const RoutingSnapshot& pool, UpstreamIndex index, const Need& need,
                   core::TimePoint now) {
    // A block that came between two polls is at most so many more than time explains.
    constexpr std::uint64_t kUnseen = 2;
    const UpstreamView& upstream = pool.upstreams[index];
    const Rank best = need.late.test(index) ? Rank::second : Rank::good;
    if (need.lacking.test(index) || lacks_method(upstream, need.method) ||
        (upstream.slow_circuit_open && is_slow(need)) || !keeps_state(pool, upstream, need.block)) {
        return Rank::lacks;
    }
    if (!upstream.reach) {
        return best;
    }
    const std::uint64_t by_now = upstream.reach->number + gain(pool, *upstream.reach, now);
    if (need.block.kind == BlockNeed::Kind::number && !has_number(upstream, need.block)) {
        const bool may_have = by_now + kUnseen >= need.block.number && best == Rank::good;
        return may_have ? Rank::perhaps : Rank::beyond;
    }
    if (need.block.kind == BlockNeed::Kind::latest) {
        return upstream.lag_blocks == 0 && by_now >= need.served ? best : Rank::second;
    }
    return best;
}

Rank rank_of(const RoutingSnapshot& pool, UpstreamIndex index, const Need& need,
             core::TimePoint now) {
    const UpstreamView& upstream = pool.upstreams[index];
    if (!is_allowed(upstream, need)) {
        return Rank::policy;
    }
    const bool cooling =
        upstream.state == UpstreamState::cooling_down && upstream.available_at > now;
    if (cooling) {
        return Rank::cooling;
    }
    if (!upstream.identified && upstream.state != UpstreamState::quota_spent) {
        return Rank::unfit;
    }
    switch (upstream.state) {
        case UpstreamState::cooling_down:  // over since the picture was taken
        case UpstreamState::fit:
            break;
        case UpstreamState::lagging:
            // Old blocks are as good from it as from any other.
            if (upstream.implausible || !has_number(upstream, need.block)) {
                return Rank::behind;
            }
            break;
        case UpstreamState::circuit_open:
            return Rank::ill;
        case UpstreamState::quota_spent:
            return Rank::spent;
        case UpstreamState::wrong_chain:
        case UpstreamState::auth_failed:
        case UpstreamState::unknown:
        case UpstreamState::drained:
            return Rank::unfit;
    }
    const Rank rank = rank_by_block(pool, index, need, now);
    return upstream.apart ? std::max(rank, Rank::apart) : rank;
}

// A draw from [0, limit) with 21 of the random bits.
double draw(std::uint64_t random, unsigned part, double limit) {
    constexpr std::uint64_t kMask = (1U << 21U) - 1;
    return static_cast<double>((random >> (21 * part)) & kMask) / static_cast<double>(kMask + 1) *
           limit;
}

class Lottery {
  public:
    void add(UpstreamIndex index, double weight) {
        entries_[count_++] = {index, weight};
        total_ += weight;
    }
    void clear() {
        count_ = 0;
        total_ = 0;
    }
    bool empty() const { return count_ == 0; }
    std::size_t size() const { return count_; }

    // Takes one out, with a chance in proportion to its weight.
    UpstreamIndex take(std::uint64_t random, unsigned part) {
        double point = draw(random, part, total_);
        std::size_t at = 0;
        while (at + 1 < count_ && point >= entries_[at].weight) {
            point -= entries_[at].weight;
            ++at;
        }
        const Entry taken = entries_[at];
        total_ -= taken.weight;
        entries_[at] = entries_[--count_];
        return taken.index;
    }

  private:
    struct Entry {
        UpstreamIndex index;
        double weight;
    };
    std::array<Entry, kMaxUpstreams> entries_;
    std::size_t count_ = 0;
    double total_ = 0;
};

double score_for(const UpstreamView& upstream, const Need& need) {
    return is_slow(need) ? upstream.slow_score : upstream.score;
}

// Two candidates drawn by weight and score; a better second one may take the place of the first.
// Equal scores leave each its weight; a lesser one keeps a share, so that its figures stay fresh
// and no herd forms.
UpstreamIndex pick(const RoutingSnapshot& pool, const Need& need, Lottery& lottery,
                   std::uint64_t random) {
    const UpstreamIndex first = lottery.take(random, 0);
    if (lottery.empty()) {
        return first;
    }
    const UpstreamIndex second = lottery.take(random, 1);
    const double better = chance_of_better(score_for(pool.upstreams[first], need),
                                           score_for(pool.upstreams[second], need));
    return draw(random, 2, 1) < better ? second : first;
}

using Ranks = std::array<Rank, kMaxUpstreams>;

// The lowest tier that has a candidate of this rank.
std::optional<UpstreamIndex> pick_ranked(const RoutingSnapshot& pool, const Need& need,
                                         const Ranks& ranks, const Tried& tried, Rank rank,
                                         std::uint64_t random) {
    Lottery lottery;
    unsigned tier = 0;
    for (UpstreamIndex i = 0; i < pool.upstreams.size(); ++i) {
        const UpstreamView& upstream = pool.upstreams[i];
        if (ranks[i] != rank || tried.test(i) || (!lottery.empty() && upstream.tier > tier)) {
            continue;
        }
        if (lottery.empty() || upstream.tier < tier) {
            lottery.clear();
            tier = upstream.tier;
        }
        lottery.add(i, draw_weight(upstream.weight, score_for(upstream, need), upstream.trickle));
    }
    if (lottery.empty()) {
        return std::nullopt;
    }
    return pick(pool, need, lottery, random);
}

std::optional<unsigned> lowest_tier(const RoutingSnapshot& pool, const Ranks& ranks,
                                    const Tried& tried, Rank rank) {
    std::optional<unsigned> lowest;
    for (UpstreamIndex i = 0; i < pool.upstreams.size(); ++i) {
        if (ranks[i] == rank && !tried.test(i)) {
            lowest = std::min(lowest.value_or(pool.upstreams[i].tier), pool.upstreams[i].tier);
        }
    }
    return lowest;
}

// The one that has seen the newest block, whatever its tier.
std::optional<UpstreamIndex> farthest(const RoutingSnapshot& pool, const Ranks& ranks,
                                      const Tried& tried, Rank rank) {
    std::optional<UpstreamIndex> best;
    for (UpstreamIndex i = 0; i < pool.upstreams.size(); ++i) {
        if (ranks[i] == rank && !tried.test(i) &&
            (!best || pool.upstreams[i].reach->number > pool.upstreams[*best].reach->number)) {
            best = i;
        }
    }
    return best;
}

// Among those that are fit.
std::optional<UpstreamIndex> pick_fit(const RoutingSnapshot& pool, const Need& need,
                                      const Ranks& ranks, const Tried& tried,
                                      std::uint64_t random) {
    const auto good = lowest_tier(pool, ranks, tried, Rank::good);
    const auto second = lowest_tier(pool, ranks, tried, Rank::second);
    if (good || second) {
        const Rank rank = good && (!second || *good <= *second) ? Rank::good : Rank::second;
        return pick_ranked(pool, need, ranks, tried, rank, random);
    }
    for (const Rank rank : {Rank::perhaps, Rank::beyond}) {
        if (const auto chosen = farthest(pool, ranks, tried, rank)) {
            return chosen;
        }
    }
    if (const auto chosen = pick_ranked(pool, need, ranks, tried, Rank::apart, random)) {
        return chosen;
    }
    return pick_ranked(pool, need, ranks, tried, Rank::lacks, random);
}

std::optional<UpstreamIndex> least_bad(const RoutingSnapshot& pool, const Need& need,
                                       const Ranks& ranks, const Tried& tried) {
    std::optional<UpstreamIndex> best;
    for (UpstreamIndex i = 0; i < pool.upstreams.size(); ++i) {
        if (ranks[i] == Rank::ill && !tried.test(i) &&
            (!best ||
             score_for(pool.upstreams[i], need) > score_for(pool.upstreams[*best], need))) {
            best = i;
        }
    }
    return best;
}

}  // namespace

std::variant<UpstreamIndex, NoUpstream> select(const RoutingSnapshot& pool, const Need& need,
                                               const Tried& tried, core::TimePoint now,
                                               std::uint64_t random) {
    Ranks ranks{};
    std::array<std::size_t, static_cast<std::size_t>(Rank::unfit) + 1> ranked{};
    NoUpstream none;
    bool any_tried = false;
    bool short_wait = false;
    const std::size_t count = std::min(pool.upstreams.size(), kMaxUpstreams);
    for (UpstreamIndex i = 0; i < count; ++i) {
        const UpstreamView& upstream = pool.upstreams[i];
        const Rank rank = ranks[i] = rank_of(pool, i, need, now);
        ++ranked[static_cast<std::size_t>(rank)];
        any_tried = any_tried || (tried.test(i) && rank <= Rank::cooling);
        if (rank != Rank::cooling) {
            continue;
        }
        none.cooling.set(i);
        short_wait = short_wait || upstream.available_at - now <= need.patience;
        if (none.available_at == core::TimePoint{} || upstream.available_at < none.available_at) {
            none.available_at = upstream.available_at;
        }
    }
    const auto has = [&ranked](Rank rank) { return ranked[static_cast<std::size_t>(rank)] != 0; };

    if (const auto chosen = pick_fit(pool, need, ranks, tried, random)) {
        return *chosen;
    }
    // Old news is no substitute for a short wait or for another answer that was had just now.
    const bool any_fit = has(Rank::good) || has(Rank::second) || has(Rank::perhaps) ||
                         has(Rank::beyond) || has(Rank::apart) || has(Rank::lacks);
    if (!any_fit && !short_wait) {
        if (const auto chosen = pick_ranked(pool, need, ranks, tried, Rank::behind, random)) {
            return *chosen;
        }
        if (!has(Rank::behind)) {
            if (const auto chosen = least_bad(pool, need, ranks, tried)) {
                return *chosen;
            }
        }
    }
    using enum NoUpstream::Reason;
    if (any_tried) {
        none.reason = all_tried;
    } else if (has(Rank::cooling)) {
        none.reason = rate_limited;
    } else if (has(Rank::spent)) {
        none.reason = quota_exhausted;
    } else if (has(Rank::policy)) {
        none.reason = method_unsupported;
    } else {
        none.reason = unfit;
    }
    return none;
}

std::variant<UpstreamIndex, NoUpstream> select_kept(const RoutingSnapshot& pool, const Need& need,
                                                    const Tried& tried, UpstreamIndex kept,
                                                    core::TimePoint now) {
    const std::size_t count = std::min(pool.upstreams.size(), kMaxUpstreams);
    const auto is_good = [&](UpstreamIndex i) {
        return i < count && !tried.test(i) && rank_of(pool, i, need, now) == Rank::good;
    };
    if (is_good(kept)) {
        return kept;
    }
    std::optional<UpstreamIndex> best;
    const auto better = [&](UpstreamIndex a, UpstreamIndex b) {
        const UpstreamView& x = pool.upstreams[a];
        const UpstreamView& y = pool.upstreams[b];
        return x.tier != y.tier ? x.tier < y.tier
                                : x.weight * score_for(x, need) > y.weight * score_for(y, need);
    };
    for (UpstreamIndex i = 0; i < count; ++i) {
        if (is_good(i) && (!best || better(i, *best))) {
            best = i;
        }
    }
    if (best) {
        return *best;
    }
    return select(pool, need, tried, now, 0);
}

Tried outdone(const RoutingSnapshot& pool, const Tried& answered, const Tried& silent) {
    Tried late;
    const std::size_t count = std::min(pool.upstreams.size(), kMaxUpstreams);
    for (UpstreamIndex i = 0; i < count; ++i) {
        for (UpstreamIndex other = 0; silent.test(i) && other < count; ++other) {
            if (answered.test(other) && pool.upstreams[other].tier == pool.upstreams[i].tier) {
                late.set(i);
            }
        }
    }
    return late;
}

Tried first_choices(const RoutingSnapshot& pool, const Need& need, const Tried& tried,
                    core::TimePoint now) {
    Tried best;
    unsigned tier = 0;
    const std::size_t count = std::min(pool.upstreams.size(), kMaxUpstreams);
    for (UpstreamIndex i = 0; i < count; ++i) {
        const UpstreamView& upstream = pool.upstreams[i];
        if (tried.test(i) || rank_of(pool, i, need, now) != Rank::good ||
            (best.any() && upstream.tier > tier)) {
            continue;
        }
        if (upstream.tier < tier) {
            best.reset();
        }
        tier = upstream.tier;
        best.set(i);
    }
    return best;
}

std::uint64_t highest_plausible(const RoutingSnapshot& pool, core::TimePoint now) {
    if (!pool.head || pool.upstreams.size() == 1) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    const core::Duration since = std::max(now - pool.head_at, core::Duration::zero());
    const auto by_time =
        static_cast<std::uint64_t>(2 * since / std::max(pool.block_time, core::Duration(1)));
    return pool.head->number + std::max(pool.max_jump_blocks, by_time);
}

}  // namespace weir::routing
