// What an upstream was seen to say about its chain.
#pragma once

#include "core/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::chain {

// A block as an upstream names it. The hash is `0x` and 64 lower-case hex digits, or empty where
// only the number is known.
struct BlockId {
    std::uint64_t number = 0;
    std::string hash;

    friend bool operator==(const BlockId&, const BlockId&) = default;
};

// Tags of blocks that are older than `latest`, and surer.
enum class Tag : std::uint8_t { safe, finalized };
constexpr std::array kAllTags = {Tag::safe, Tag::finalized};
std::string_view to_string(Tag tag);

struct TaggedBlock {
    BlockId block;
    core::TimePoint at;  // when it was told

    friend bool operator==(const TaggedBlock&, const TaggedBlock&) = default;
};

// What is known under each tag; nothing where it is not known, or not supported.
struct Settled {
    std::optional<TaggedBlock> safe;
    std::optional<TaggedBlock> finalized;

    const std::optional<TaggedBlock>& get(Tag tag) const {
        return tag == Tag::safe ? safe : finalized;
    }
    std::optional<TaggedBlock>& get(Tag tag) { return tag == Tag::safe ? safe : finalized; }
    friend bool operator==(const Settled&, const Settled&) = default;
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
