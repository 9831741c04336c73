#include "telemetry/escape.hpp"

#include "core/harmless.hpp"
#include "core/utf8.hpp"

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

// One of UTF-16.
void append_unit(std::string& out, std::uint32_t unit) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) {
        out += kHex[unit >> shift & 0x0FU];
    }
}

void append_unicode_escape(std::string& out, std::uint32_t code) {
    if (code < 0x10000) {
        append_unit(out, code);
        return;
    }
    append_unit(out, 0xD800 + ((code - 0x10000) >> 10U));
    append_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FFU));
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
        const core::Utf8Sequence sequence = core::read_utf8(text.substr(at));
        const std::string_view one = text.substr(at, sequence.length);
        at += sequence.length;
        if (!sequence.valid) {
            out += kReplacement;
        } else if (one.size() == 1) {
            append_special(out, one[0]);
        } else if (const std::uint32_t code = core::code_point(one); core::is_unseen(code)) {
            append_unicode_escape(out, code);
        } else {
            out += one;
        }
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
