#include "core/harmless.hpp"

#include "core/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace weir::core {
namespace {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};
// C0, DEL and C1; what Unicode calls default ignorable; its line and paragraph separators; the
// anchors of annotations.
constexpr std::array<Range, 19> kUnseen = {{
    {0x00, 0x1F},     {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},     {0x61C, 0x61C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
}};

bool continues(char c) { return (static_cast<std::uint8_t>(c) & 0xC0U) == 0x80U; }

}  // namespace

bool is_unseen(std::uint32_t code) {
    return std::any_of(kUnseen.begin(), kUnseen.end(), [code](const Range& range) {
        return code >= range.first && code <= range.last;
    });
}

std::string harmless(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Utf8Sequence sequence = read_utf8(text);
        const std::string_view one = text.substr(0, sequence.length);
        if (!sequence.valid || is_unseen(code_point(one))) {
            out += ' ';
        } else {
            out += one;
        }
        text.remove_prefix(one.size());
    }
    return out;
}

void cut_between_characters(std::string& text, std::size_t longest) {
    if (text.size() <= longest) {
        return;
    }
    while (longest > 0 && continues(text[longest])) {
        --longest;
    }
    text.resize(longest);
}

}  // namespace weir::core
