#include "chain/block_choice.hpp"

#include <algorithm>
#include <compare>

namespace weir::chain {
namespace {

// In the order in which they count.
struct Merit {
    bool high_enough = false;
    std::size_t holders = 0;  // perhaps, too
    std::size_t sure = 0;
    std::uint64_t number = 0;

    friend auto operator<=>(const Merit&, const Merit&) = default;
};

Merit merit_of(const BlockId& block, std::span<const Claim> claims, std::uint64_t at_least) {
    Merit merit{.high_enough = block.number >= at_least, .number = block.number};
    for (const Claim& claim : claims) {
        const Holds held = holds(claim, block);
        merit.holders += held == Holds::no ? 0 : 1;
        merit.sure += held == Holds::yes ? 1 : 0;
    }
    return merit;
}

}  // namespace

Holds holds(const Claim& claim, const BlockId& block) {
    if (claim.block.number < block.number) {
        return Holds::no;
    }
    if (claim.block.number == block.number) {
        return claim.block.hash == block.hash ? Holds::yes : Holds::no;
    }
    if (claim.block.number == block.number + 1 && !claim.parent_hash.empty()) {
        return claim.parent_hash == block.hash ? Holds::yes : Holds::no;
    }
    return Holds::perhaps;
}

std::optional<BlockId> choose_block(std::span<const Claim> claims, std::uint64_t at_least) {
    const Claim* best = nullptr;
    Merit most;
    for (const Claim& claim : claims) {
        const Merit merit = merit_of(claim.block, claims, at_least);
        if (best == nullptr || merit > most) {
            best = &claim;
            most = merit;
        }
    }
    return best == nullptr ? std::nullopt : std::optional(best->block);
}

std::optional<BlockId> agreed_block(std::span<const Claim> claims) {
    std::optional<BlockId> best;
    std::ptrdiff_t most = 0;
    for (const Claim& claim : claims) {
        const auto says = [&claim](const Claim& each) { return each.block == claim.block; };
        const auto voices = std::count_if(claims.begin(), claims.end(), says);
        if (voices > most) {
            most = voices;
            best = claim.block;
        } else if (voices == most && best != claim.block) {
            best.reset();
        }
    }
    return best;
}

}  // namespace weir::chain
