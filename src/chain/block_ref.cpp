#include "chain/block_ref.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"

namespace weir::chain {
namespace {

using Kind = BlockRef::Kind;

constexpr std::size_t kHashBytes = 32;

std::optional<BlockRef> parse_pair(std::string_view number, std::string_view hash) {
    const auto decimal = core::parse_decimal(number);
    if (!decimal || !core::is_hex_data(hash, kHashBytes)) {
        return std::nullopt;
    }
    return BlockRef{Kind::block, {*decimal, core::to_lower(hash)}};
}

}  // namespace

std::optional<BlockRef> parse_block_ref(std::string_view text) {
    text = core::trim(text);
    if (text == "latest") {
        return BlockRef{Kind::latest, {}};
    }
    if (text == "safe") {
        return BlockRef{Kind::safe, {}};
    }
    if (text == "finalized") {
        return BlockRef{Kind::finalized, {}};
    }
    if (const auto mark = text.find(';'); mark != std::string_view::npos) {
        return parse_pair(text.substr(0, mark), text.substr(mark + 1));
    }
    if (core::is_hex_data(text, kHashBytes)) {
        return BlockRef{Kind::hash, {0, core::to_lower(text)}};
    }
    if (const auto number = core::parse_quantity(text)) {
        return BlockRef{Kind::number, {*number, {}}};
    }
    return std::nullopt;
}

std::string to_reference(const BlockId& block) {
    return std::to_string(block.number) + ';' + block.hash;
}

}  // namespace weir::chain
