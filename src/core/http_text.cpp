#include "core/http_text.hpp"

#include <algorithm>
#include <array>

namespace weir::core {
namespace {

using Table = std::array<bool, 256>;

constexpr bool in(const Table& table, char c) { return table[static_cast<unsigned char>(c)]; }

constexpr Table make_token_table() {
    Table table{};
    for (unsigned char c = '0'; c <= '9'; ++c) {
        table[c] = true;
    }
    for (unsigned char c = 'a'; c <= 'z'; ++c) {
        table[c] = true;
        table[static_cast<unsigned char>(c - 'a' + 'A')] = true;
    }
    for (const char c : std::string_view("!#$%&'*+-.^_`|~")) {
        table[static_cast<unsigned char>(c)] = true;
    }
    return table;
}

constexpr Table make_value_table() {
    Table table{};
    for (std::size_t c = 0; c < table.size(); ++c) {
        table[c] = (c >= 0x20 && c != 0x7f) || c == '\t';
    }
    return table;
}

constexpr Table kToken = make_token_table();
constexpr Table kValue = make_value_table();

bool all_in(const Table& table, std::string_view text) {
    return std::all_of(text.begin(), text.end(), [&table](char c) { return in(table, c); });
}

}  // namespace

bool is_token_char(char c) { return in(kToken, c); }

bool is_token(std::string_view text) { return !text.empty() && all_in(kToken, text); }

bool is_field_value(std::string_view text) { return all_in(kValue, text); }

}  // namespace weir::core
