#include "core/hex.hpp"

#include <algorithm>
#include <charconv>

namespace weir::core {
namespace {

bool is_hex_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
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

bool is_hex_data(std::string_view text, std::size_t bytes) {
    return text.size() == 2 + 2 * bytes && text.starts_with("0x") &&
           std::all_of(text.begin() + 2, text.end(), is_hex_digit);
}

}  // namespace weir::core
