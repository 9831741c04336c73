// Which block a request is pinned to, from what its upstreams say they have. Pure.
#pragma once

#include "chain/observation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace weir::chain {

// The newest block that one upstream has, as it says.
struct Claim {
    std::size_t upstream = 0;
    BlockId block;
    std::string parent_hash;  // may be empty
};

enum class Holds : std::uint8_t {
    yes,
    no,       // it has another block at that height, or none
    perhaps,  // it is past that height, and what it has there is not known
};
Holds holds(const Claim& claim, const BlockId& block);

// Of the blocks claimed, the one that most upstreams have; of several the newest. One at
// `at_least` or above comes before all below. Nothing without claims.
std::optional<BlockId> choose_block(std::span<const Claim> claims, std::uint64_t at_least);

// Of claims to one and the same hash: the block, with the number that most of them say. Nothing if
// as many say another one.
std::optional<BlockId> agreed_block(std::span<const Claim> claims);

}  // namespace weir::chain
