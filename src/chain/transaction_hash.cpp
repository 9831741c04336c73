#include "chain/transaction_hash.hpp"

#include "core/hex.hpp"
#include "core/keccak.hpp"

#include <cstddef>
#include <cstdint>

namespace weir::chain {
namespace {

constexpr char kBlobType = 3;

// An RLP item (Yellow Paper, appendix B): its bytes with the prefix, and what it holds.
struct Item {
    bool is_list = false;
    std::string_view whole;
    std::string_view content;
};

std::uint8_t byte_at(std::string_view bytes, std::size_t place) {
    return static_cast<std::uint8_t>(bytes[place]);
}

// The length that stands in `count` bytes behind the prefix; nothing if it cannot be.
std::optional<std::size_t> long_length(std::string_view bytes, std::size_t count) {
    if (count > sizeof(std::size_t) || bytes.size() < 1 + count) {
        return std::nullopt;
    }
    std::size_t length = 0;
    for (std::size_t i = 1; i <= count; ++i) {
        length = length << 8U | byte_at(bytes, i);
    }
    return length;
}

// The item at the start of `bytes`.
std::optional<Item> first_item(std::string_view bytes) {
    if (bytes.empty()) {
        return std::nullopt;
    }
    const std::size_t prefix = byte_at(bytes, 0);
    if (prefix < 0x80) {
        return Item{false, bytes.substr(0, 1), bytes.substr(0, 1)};
    }
    const bool is_list = prefix >= 0xc0;
    const std::size_t kind = is_list ? prefix - 0xc0 : prefix - 0x80;
    std::size_t header = 1;
    std::optional<std::size_t> length = kind;
    if (kind > 55) {
        header = 1 + (kind - 55);
        length = long_length(bytes, kind - 55);
    }
    if (!length || *length > bytes.size() || bytes.size() - *length < header) {
        return std::nullopt;
    }
    return Item{is_list, bytes.substr(0, header + *length), bytes.substr(header, *length)};
}

std::string hash_of(std::string_view bytes) {
    const core::Hash256 digest = core::keccak256(bytes);
    std::string text;
    for (const std::uint8_t byte : digest) {
        text += static_cast<char>(byte);
    }
    return core::encode_data(text);
}

// What is hashed of a blob transaction: itself, or the first part of its network form, which is a
// list that begins with a list.
std::optional<std::string> blob_transaction_hash(std::string_view payload) {
    const std::optional<Item> outer = first_item(payload);
    if (!outer || !outer->is_list || outer->whole.size() != payload.size()) {
        return std::nullopt;
    }
    const std::optional<Item> inner = first_item(outer->content);
    if (!inner) {
        return std::nullopt;
    }
    std::string signed_part(1, kBlobType);
    signed_part += inner->is_list ? inner->whole : outer->whole;
    return hash_of(signed_part);
}

}  // namespace

std::optional<std::string> transaction_hash(std::string_view raw) {
    if (raw.empty()) {
        return std::nullopt;
    }
    if (raw.front() == kBlobType) {
        return blob_transaction_hash(raw.substr(1));
    }
    const bool is_typed = byte_at(raw, 0) < 0x80;
    const std::optional<Item> item = first_item(is_typed ? raw.substr(1) : raw);
    if (!item || !item->is_list || item->whole.size() + (is_typed ? 1 : 0) != raw.size()) {
        return std::nullopt;
    }
    return hash_of(raw);
}

}  // namespace weir::chain
