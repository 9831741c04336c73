// Well-formed UTF-8 as Unicode's table 3-7 has it: no overlong form, no surrogate, nothing above
// U+10FFFF. Shared by the scanner, which sees one byte at a time, and the writer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::core {

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

// What stands at the beginning of a text that is not empty: a character, or the bytes of one that
// could not be continued.
struct Utf8Sequence {
    std::size_t length = 1;
    bool valid = false;
};

constexpr Utf8Sequence read_utf8(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    if (byte(0) < 0x80) return {1, true};
    const Utf8Lead lead = utf8_lead(byte(0));
    if (lead.more == 0) return {1, false};
    for (std::size_t i = 1; i <= lead.more; ++i) {
        const std::uint8_t low = i == 1 ? lead.low : std::uint8_t{0x80};
        const std::uint8_t high = i == 1 ? lead.high : std::uint8_t{0xBF};
        if (i == text.size() || byte(i) < low || byte(i) > high) return {i, false};
    }
    return {lead.more + std::size_t{1}, true};
}

// The code point of a character as `read_utf8` found it.
constexpr std::uint32_t code_point(std::string_view character) {
    constexpr std::array<std::uint8_t, 5> kLeadBits = {0, 0x7F, 0x1F, 0x0F, 0x07};
    std::uint32_t code = static_cast<std::uint8_t>(character[0]) & kLeadBits[character.size()];
    for (const char c : character.substr(1)) {
        code = code << 6U | (static_cast<std::uint8_t>(c) & 0x3FU);
    }
    return code;
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

}  // namespace weir::core
