#include "core/hex.hpp"

#include <algorithm>
#include <charconv>

namespace weir::core {
namespace {

bool is_hex_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

unsigned hex_value(char digit) {
    if (digit <= '9') {
        return static_cast<unsigned>(digit - '0');
    }
    return static_cast<unsigned>((digit | 0x20) - 'a') + 10;
}

std::optional<std::uint64_t> parse_number(std::string_view digits, int base) {
    std::uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
    if (digits.empty() || error != std::errc{} || stop != end) {
        return std::nullopt;
    }
    return value;
}

}  // namespace

std::optional<std::uint64_t> parse_quantity(std::string_view text) {
    if (!text.starts_with("0x") && !text.starts_with("0X")) {
        return std::nullopt;
    }
    return parse_number(text.substr(2), 16);
}

std::string to_quantity(std::uint64_t value) {
    char digits[18] = {'0', 'x'};
    const auto [end, error] = std::to_chars(digits + 2, digits + sizeof digits, value, 16);
    return {digits, end};
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) { return parse_number(text, 10); }

std::optional<std::string> decode_data(std::string_view text) {
    if (text.size() % 2 != 0 || (!text.starts_with("0x") && !text.starts_with("0X")) ||
        !std::all_of(text.begin() + 2, text.end(), is_hex_digit)) {
        return std::nullopt;
    }
    std::string bytes;
    bytes.reserve(text.size() / 2 - 1);
    for (std::size_t i = 2; i < text.size(); i += 2) {
        bytes += static_cast<char>(hex_value(text[i]) << 4U | hex_value(text[i + 1]));
    }
    return bytes;
}

std::string encode_data(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text = "0x";
    text.reserve(2 + 2 * bytes.size());
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
    }
    return text;
}

bool is_hex_data(std::string_view text, std::size_t bytes) {
    return text.size() == 2 + 2 * bytes && text.starts_with("0x") &&
           std::all_of(text.begin() + 2, text.end(), is_hex_digit);
}

}  // namespace weir::core
