// Hexadecimal as Ethereum JSON-RPC writes it (execution-apis, "hex value encoding").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::core {

// A QUANTITY: `0x` and 1 to 16 hex digits of either case; leading zeros are tolerated on input.
// Nothing for anything else, overflow included.
std::optional<std::uint64_t> parse_quantity(std::string_view text);

// A QUANTITY without leading zeros: 0 is `0x0`.
std::string to_quantity(std::uint64_t value);

// A decimal number without sign, 64 bits; nothing for anything else.
std::optional<std::uint64_t> parse_decimal(std::string_view text);

// DATA: `0x` and an even number of hex digits, as bytes; nothing for anything else.
std::optional<std::string> decode_data(std::string_view text);

// `0x` and two lower-case digits per byte.
std::string encode_data(std::string_view bytes);

// True for `0x` followed by exactly 2 * `bytes` hex digits.
bool is_hex_data(std::string_view text, std::size_t bytes);

}  // namespace weir::core
