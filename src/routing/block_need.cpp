#include "routing/block_need.hpp"

#include "core/hex.hpp"
#include "jsonrpc/value.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace weir::routing {
namespace {

using Kind = BlockNeed::Kind;

constexpr std::size_t kHashBytes = 32;

BlockNeed at(std::uint64_t number) { return {.kind = Kind::number, .number = number}; }

// A tag, a number or a hash, raw.
BlockNeed by_word(std::string_view raw) {
    if (const auto number = core::parse_decimal(raw)) {
        return at(*number);
    }
    const auto text = jsonrpc::plain_string(raw);
    if (!text || *text == "latest") {
        return {.kind = Kind::latest};
    }
    if (*text == "pending") {
        return {.kind = Kind::pending};
    }
    if (*text == "earliest") {
        return at(0);
    }
    if (*text == "safe" || *text == "finalized") {
        return {};
    }
    if (core::is_hex_data(*text, kHashBytes)) {
        return {.kind = Kind::hash};
    }
    const auto number = core::parse_quantity(*text);
    return number ? at(*number) : BlockNeed{.kind = Kind::latest};
}

// The object of EIP-1898.
BlockNeed by_reference(std::string_view object) {
    if (!jsonrpc::member(object, "blockHash").empty()) {
        return {.kind = Kind::hash};
    }
    return by_word(jsonrpc::member(object, "blockNumber"));
}

BlockNeed by_filter(std::string_view filter) {
    if (!jsonrpc::member(filter, "blockHash").empty()) {
        return {.kind = Kind::hash};
    }
    return by_word(jsonrpc::member(filter, "toBlock"));
}

}  // namespace

BlockNeed block_need(const MethodTraits& traits, const jsonrpc::Call& call) {
    BlockNeed need;
    switch (traits.block_param) {
        case BlockParam::none:
            return need;
        case BlockParam::head:
            need.kind = Kind::latest;
            return need;
        case BlockParam::pending:
            need.kind = Kind::pending;
            return need;
        case BlockParam::block_hash:
            need.kind = Kind::hash;
            break;
        case BlockParam::block: {
            const std::string_view raw = call.param(traits.block_position);
            need = jsonrpc::is_object(raw) ? by_reference(raw) : by_word(raw);
            break;
        }
        case BlockParam::range_end:
            need = by_word(call.param(traits.block_position));
            break;
        case BlockParam::log_filter:
            need = by_filter(call.param(traits.block_position));
            break;
    }
    need.state = traits.reads_state;
    return need;
}

}  // namespace weir::routing
