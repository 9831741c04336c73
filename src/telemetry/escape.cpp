#include "telemetry/escape.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::telemetry {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes that go out as they are.
constexpr std::array<bool, 256> plain_bytes() {
    std::array<bool, 256> plain{};
    for (std::size_t c = 0x20; c < 0x7F; ++c) {
        plain[c] = c != '"' && c != '\\';
    }
    return plain;
}
constexpr std::array<bool, 256> kPlain = plain_bytes();

std::uint8_t byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<std::uint8_t>(text[at]) : std::uint8_t{0};
}

struct Sequence {
    std::size_t length;  // bytes to take, at least one
    bool valid;
};

// One UTF-8 sequence of two bytes or more, by table 3-7 of the Unicode standard.
Sequence read_sequence(std::string_view text, std::size_t at) {
    const std::uint8_t lead = byte_at(text, at);
    std::size_t length = 0;
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        low = lead == 0xE0 ? 0xA0 : 0x80;
        high = lead == 0xED ? 0x9F : 0xBF;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        low = lead == 0xF0 ? 0x90 : 0x80;
        high = lead == 0xF4 ? 0x8F : 0xBF;
    } else {
        return {1, false};
    }
    for (std::size_t i = 1; i < length; ++i) {
        const std::uint8_t next = byte_at(text, at + i);
        if (next < low || next > high) {
            return {i, false};
        }
        low = 0x80;
        high = 0xBF;
    }
    return {length, true};
}

void append_unicode_escape(std::string& out, std::uint8_t c) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out += "\\u00";
    out += kHex[c >> 4U];
    out += kHex[c & 0x0FU];
}

void append_special(std::string& out, char c) {
    switch (c) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        default:
            append_unicode_escape(out, static_cast<std::uint8_t>(c));
    }
}

bool reads_as_one_word(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return kPlain[static_cast<std::uint8_t>(c)] && c != ' ' && c != '=';
    });
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t end = at;
        while (end < text.size() && kPlain[static_cast<std::uint8_t>(text[end])]) {
            ++end;
        }
        out += text.substr(at, end - at);
        at = end;
        if (at == text.size()) {
            return;
        }
        if (byte_at(text, at) < 0x80) {
            append_special(out, text[at++]);
            continue;
        }
        const Sequence sequence = read_sequence(text, at);
        if (!sequence.valid) {
            out += kReplacement;
        } else if (byte_at(text, at) == 0xC2 && byte_at(text, at + 1) < 0xA0) {
            append_unicode_escape(out, byte_at(text, at + 1));
        } else {
            out += text.substr(at, sequence.length);
        }
        at += sequence.length;
    }
}

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    append_escaped(out, text);
    out += '"';
}

void append_text_value(std::string& out, std::string_view text) {
    if (reads_as_one_word(text)) {
        out += text;
    } else {
        append_json_string(out, text);
    }
}

}  // namespace weir::telemetry
