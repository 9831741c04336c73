// How a client names the block that all reads of its request are to show.
#pragma once

#include "chain/observation.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::chain {

struct BlockRef {
    enum class Kind : std::uint8_t {
        latest,
        safe,
        finalized,
        number,
        hash,
        block,  // number and hash, as a response names it
    } kind = Kind::latest;
    BlockId block;  // as far as the kind has it

    friend bool operator==(const BlockRef&, const BlockRef&) = default;
};

// `latest`, `safe`, `finalized`, `0x<number>`, `0x<hash>` or `<decimal number>;<hash>`, with blanks
// around it; nothing for anything else. A hash may have digits of either case.
std::optional<BlockRef> parse_block_ref(std::string_view text);

// `<decimal number>;<hash>`.
std::string to_reference(const BlockId& block);

}  // namespace weir::chain
