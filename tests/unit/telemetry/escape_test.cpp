#include "telemetry/escape.hpp"

#include "support/catch.hpp"

#include <string>

using namespace weir::telemetry;

namespace {

std::string escaped(std::string_view text) {
    std::string out;
    append_escaped(out, text);
    return out;
}

struct Case {
    std::string text;
    std::string expected;
};

}  // namespace

TEST_CASE("text is escaped for JSON and for terminals") {
    const std::vector<Case> cases = {
        {"", ""},
        {"plain text, 0x1F", "plain text, 0x1F"},
        {"say \"hi\" \\ /", "say \\\"hi\\\" \\\\ /"},
        {"a\nb\rc\td", "a\\nb\\rc\\td"},
        {std::string("\0\x01\x1b[31m\x7f", 8), "\\u0000\\u0001\\u001b[31m\\u007f"},
        {"gr\xC3\xBC\xC3\x9F, \xE2\x82\xAC, \xF0\x9F\x98\x80",
         "gr\xC3\xBC\xC3\x9F, \xE2\x82\xAC, \xF0\x9F\x98\x80"},
        {"\xC2\x9B", "\\u009b"},  // C1: CSI
        {"a\u202eb\u2066c\u2028d",
         "a\\u202eb\\u2066c\\u2028d"},                        // turned, and another end of a line
        {"a\u200bb\U000E0041c", "a\\u200bb\\udb40\\udc41c"},  // not seen
        {"\xC2\xA0", "\xC2\xA0"},                             // the first after C1
        {"a\xFFz", "a\xEF\xBF\xBDz"},                         // no lead byte
        {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},             // overlong
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},  // surrogate
        {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xE2\x82", "\xEF\xBF\xBD"},        // cut off
        {"\xE2\x82\"", "\xEF\xBF\xBD\\\""},  // cut off, then a quote
        {"\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.text);
        CHECK(escaped(c.text) == c.expected);
    }
}

TEST_CASE("values of a text line are bare only where that is unambiguous") {
    const std::vector<Case> cases = {
        {"ethereum", "ethereum"},
        {"127.0.0.1:8545", "127.0.0.1:8545"},
        {"", "\"\""},
        {"two words", "\"two words\""},
        {"a=b", "\"a=b\""},
        {"say \"hi\"", "\"say \\\"hi\\\"\""},
        {"line\nbreak", "\"line\\nbreak\""},
    };
    for (const Case& c : cases) {
        std::string out;
        append_text_value(out, c.text);
        CHECK(out == c.expected);
    }
}
