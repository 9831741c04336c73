// What an upstream was seen to say about its chain.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace weir::chain {

// A block as an upstream names it. The hash is `0x` and 64 lower-case hex digits, or empty where
// only the number is known.
struct BlockId {
    std::uint64_t number = 0;
    std::string hash;

    friend bool operator==(const BlockId&, const BlockId&) = default;
};

// `latest` as one upstream gave it.
struct Observation {
    BlockId latest;
    std::string parent_hash;      // may be empty
    std::uint64_t timestamp = 0;  // the block's own, seconds since 1970; 0 where unknown
    core::TimePoint at;
    std::uint64_t wall = 0;  // the gateway's own clock when it was seen, seconds since 1970
};

}  // namespace weir::chain
