// Well-formed UTF-8 as Unicode's table 3-7 has it: no overlong form, no surrogate, nothing above
// U+10FFFF. Shared by the scanner, which sees one byte at a time, and the writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::jsonrpc {

// What may follow a lead byte: `more` bytes (0: not a lead byte), the first within [low, high],
// the others within [0x80, 0xBF].
struct Utf8Lead {
    std::uint8_t more = 0;
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xBF;
};

constexpr Utf8Lead utf8_lead(std::uint8_t byte) {
    if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
    if (byte == 0xE0) return {2, 0xA0, 0xBF};
    if (byte == 0xED) return {2, 0x80, 0x9F};
    if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
    if (byte == 0xF0) return {3, 0x90, 0xBF};
    if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
    if (byte == 0xF4) return {3, 0x80, 0x8F};
    return {};
}

// The length of the well-formed sequence of two or more bytes that `text` begins with; 0: none.
inline std::size_t utf8_sequence(std::string_view text) {
    if (text.empty()) return 0;
    const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const Utf8Lead lead = utf8_lead(byte(0));
    if (lead.more == 0 || text.size() <= lead.more) return 0;
    if (byte(1) < lead.low || byte(1) > lead.high) return 0;
    for (std::size_t i = 2; i <= lead.more; ++i) {
        if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
    }
    return lead.more + std::size_t{1};
}

// Appends a code point up to U+10FFFF that is no surrogate.
inline void append_utf8(std::string& out, std::uint32_t code) {
    const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    }
}

}  // namespace weir::jsonrpc
