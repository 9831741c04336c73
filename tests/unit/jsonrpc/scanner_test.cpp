#include "jsonrpc/scanner.hpp"

#include "jsonrpc/value.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

using namespace weir::jsonrpc;
using namespace std::string_literals;

namespace {

// Writes down everything it hears.
struct Recorder {
    static constexpr std::size_t kWatch = 2;

    bool begin(std::size_t depth, std::size_t offset, char first) {
        return note("begin", depth, offset, {&first, 1});
    }
    bool end(std::size_t depth, std::size_t offset) { return note("end", depth, offset, ""); }
    bool name(std::size_t depth, const ScannedName& name) {
        const bool matters = name.decoded.size() <= Scanner::kLongestName;
        note("name", depth, name.begin, matters ? name.decoded : "");
        return note("name end", depth, name.end, "");
    }
    bool note(const char* what, std::size_t depth, std::size_t offset, std::string_view text) {
        heard += std::string(what) + ' ' + std::to_string(depth) + ' ' + std::to_string(offset) +
                 ' ' + std::string(text) + '\n';
        return true;
    }

    std::string heard;
};

struct Outcome {
    Scanner::State state;
    Scanner::Problem problem;
    std::size_t offset;
    std::string heard;

    bool operator==(const Outcome&) const = default;
};

Outcome scan(const std::vector<std::string_view>& pieces, std::size_t max_depth = 64) {
    Recorder recorder;
    Scanner scanner(max_depth);
    for (const std::string_view piece : pieces) {
        const std::string copy(piece);  // gone before the next piece comes
        scanner.feed(copy, recorder);
    }
    const Scanner::State state = scanner.finish(recorder);
    return {state, scanner.problem(), scanner.offset(), recorder.heard};
}

void append_code_unit_bytes(std::string& out, std::uint32_t bytes, int count) {
    for (int i = count - 1; i >= 0; --i) out.push_back(static_cast<char>(bytes >> 8 * i & 0xFF));
}

// The definition read backwards: a sequence is right when its code point is written as it.
bool is_utf8(std::string_view bytes) {
    const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
    std::uint32_t code = bytes.size() == 2   ? at(0) & 0x1FU
                         : bytes.size() == 3 ? at(0) & 0x0FU
                                             : at(0) & 0x07U;
    for (std::size_t i = 1; i < bytes.size(); ++i) code = code << 6 | (at(i) & 0x3FU);
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    std::string written;
    weir::core::append_utf8(written, code);
    return written == bytes;
}

}  // namespace

TEST_CASE("RFC 8259 values") {
    const std::string good[] = {"{}",
                                "[]",
                                "\"\"",
                                "0",
                                "-0",
                                "-1.5e+10",
                                "1E5",
                                "1e-5",
                                "0.0",
                                "true",
                                "false",
                                "null",
                                " \t\r\n[ 1 , 2 ] \n",
                                "{\"a\":{\"b\":[{}]},\"\":null}",
                                "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"",
                                "\"\x7f\"",
                                "\"\xc3\xa9\"",
                                "123456789012345678901234567890",
                                "1e400",
                                "\"\\ud800\"",
                                "{\"a\":1,\"a\":2}",
                                "[[],[]]"};
    for (const std::string& text : good) {
        INFO(text);
        CHECK(is_valid(text));
    }
    const std::string bad[] = {"",
                               " ",
                               "\n",
                               "{",
                               "[",
                               "\"",
                               "}",
                               "]",
                               ",",
                               ":",
                               "[1",
                               "[1,",
                               "[1,]",
                               "[,1]",
                               "[1 2]",
                               "[1}",
                               "{]",
                               "{\"a\"}",
                               "{\"a\":}",
                               "{\"a\":1,}",
                               "{,}",
                               "{a:1}",
                               "{1:1}",
                               "{\"a\" 1}",
                               "{\"a\"::1}",
                               "{'a':1}",
                               "{\"a\":1 \"b\":2}",
                               "{}{}",
                               "[]]",
                               "1 2",
                               "{} x",
                               "01",
                               "-",
                               "-a",
                               "+1",
                               ".5",
                               "1.",
                               "1.e1",
                               "1e",
                               "1e+",
                               "1e1.5",
                               "0x1",
                               "1a",
                               "--1",
                               "-01",
                               "tru",
                               "truE",
                               "TRUE",
                               "nul",
                               "nulll",
                               "truefalse",
                               "NaN",
                               "Infinity",
                               "fals",
                               "\"\\x\"",
                               "\"\\u12\"",
                               "\"\\u12g4\"",
                               "\"\\",
                               "\"\\u",
                               "\"a\nb\"",
                               "\"a\tb\"",
                               "\"\0\""s,
                               "\"\x1f\"",
                               "\"\x80\"",
                               "\"\xc3\"",
                               "\"\xff\"",
                               "\"\xc3\\n\"",
                               "\xc3\xa9",
                               "\xef\xbb\xbf{}",
                               "[1]\0"s,
                               "// c\n1",
                               "/**/1",
                               "[1]/**/",
                               "\x0b[]",
                               "\xc2\xa0[]",
                               "undefined",
                               "\"a\" \"b\""};
    for (const std::string& text : bad) {
        INFO(text);
        CHECK_FALSE(is_valid(text));
    }
}

TEST_CASE("a problem is named with its place") {
    struct Row {
        std::string text;
        Scanner::Problem problem;
        std::size_t offset;
    };
    const Row rows[] = {
        {"[1,]", Scanner::Problem::unexpected, 3},     {"[01]", Scanner::Problem::unexpected, 2},
        {"[1.]", Scanner::Problem::number, 3},         {"-", Scanner::Problem::unfinished, 1},
        {"[\"\\q\"]", Scanner::Problem::string, 3},    {"[\"\x01\"]", Scanner::Problem::string, 2},
        {"[\"\xc0\xaf\"]", Scanner::Problem::utf8, 2}, {"[\"\xc3\"]", Scanner::Problem::utf8, 3},
        {"[[[[]]]]", Scanner::Problem::too_deep, 3},   {"[1", Scanner::Problem::unfinished, 2},
        {"", Scanner::Problem::unfinished, 0}};
    for (const Row& row : rows) {
        INFO(row.text);
        const Outcome outcome = scan({row.text}, 3);
        CHECK(outcome.state == Scanner::State::broken);
        CHECK(outcome.problem == row.problem);
        CHECK(outcome.offset == row.offset);
    }
}

TEST_CASE("a broken scanner stays broken") {
    Recorder recorder;
    Scanner scanner(8);
    CHECK(scanner.feed("[}", recorder) == Scanner::State::broken);
    CHECK(scanner.feed("]", recorder) == Scanner::State::broken);
    CHECK(scanner.finish(recorder) == Scanner::State::broken);
    CHECK(scanner.offset() == 1);
}

TEST_CASE("depth is bounded, however deep the bound") {
    for (const std::size_t depth : {1U, 2U, 63U, 64U, 65U, 512U, 1024U, 5000U}) {
        INFO(depth);
        std::string text;
        for (std::size_t i = 0; i < depth; ++i) text += i % 3 == 1 ? "{\"a\":" : "[";
        std::string closed = text + (depth % 3 == 2 ? "1" : "");
        for (std::size_t i = depth; i-- > 0;) closed += i % 3 == 1 ? "}" : "]";
        CHECK(is_valid(closed, depth));
        CHECK_FALSE(is_valid(closed, depth - 1));
        closed.back() = '}';
        CHECK_FALSE(is_valid(closed, depth));
    }
    CHECK(is_valid("1", 0));
    CHECK_FALSE(is_valid("[]", 0));
    CHECK_FALSE(is_valid(std::string(1'000'000, '['), 1'000'000'000));
}

TEST_CASE("UTF-8 in strings is well-formed") {
    const auto check = [](std::string_view bytes) {
        const std::string text = '"' + std::string(bytes) + '"';
        if (is_valid(text) != is_utf8(bytes)) {
            INFO(text);
            FAIL_CHECK("judged wrongly");
        }
    };
    std::string bytes;
    for (std::uint32_t two = 0xC000; two <= 0xFFFF; ++two) {
        if ((two & 0xFF) < 0x80) continue;  // the second byte stands for itself
        bytes.clear();
        append_code_unit_bytes(bytes, two, 2);
        if ((two >> 8) < 0xE0) check(bytes);
        if ((two >> 8) >= 0xE0) CHECK_FALSE(is_valid('"' + bytes + '"'));
    }
    static constexpr std::array<std::uint32_t, 10> kBorders = {0x80, 0x8F, 0x90, 0x9F, 0xA0,
                                                               0xAF, 0xB0, 0xBF, 0xC0, 0xFF};
    for (std::uint32_t lead = 0xE0; lead <= 0xFF; ++lead) {
        for (const std::uint32_t second : kBorders) {
            for (const std::uint32_t third : kBorders) {
                bytes.clear();
                append_code_unit_bytes(bytes, lead << 16 | second << 8 | third, 3);
                if (lead < 0xF0) check(bytes);
                for (const std::uint32_t fourth : kBorders) {
                    bytes.clear();
                    append_code_unit_bytes(bytes, lead << 24 | second << 16 | third << 8 | fourth,
                                           4);
                    if (lead >= 0xF0) check(bytes);
                }
            }
        }
    }
}

TEST_CASE("odd bytes are found wherever they stand in a string") {
    for (std::size_t length = 1; length <= 150; ++length) {
        for (std::size_t at = 0; at < length; at += length > 40 ? 7 : 1) {
            for (const char odd : {'\0', '\x1f', '"', '\\', '\x80', '\xff'}) {
                std::string text(length, 'x');
                text[at] = odd;
                if (is_valid('"' + text + '"')) {
                    INFO("byte " << int{odd} << " at " << at << " of " << length);
                    FAIL_CHECK("taken");
                }
            }
        }
        REQUIRE(is_valid('"' + std::string(length, '\x7f') + '"'));
    }
}

TEST_CASE("pieces make no difference") {
    const std::string texts[] = {
        R"({"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"0x1"},"latest"]})",
        R"( [ {"id" : -12.5e+7 , "m\u0065thod":"a\"b"} , [true,false,null,0] , "x\uD83D\ude00" ] )",
        R"({"\u0069\u0064":1,"a name that is rather long":2,"long and \u0065scaped name, so":[],"é":3})",
        "[\"\xf0\x9f\x98\x80\xc3\xa9\xe2\x82\xac\",\"" + std::string(70, 'a') + "\\n\"]",
        "{\"\xf0\x9f\x98\x80\":1,\"\\u00e9\":2,\"sixteen bytes ok\":3,\"seventeen bytes..\":4}",
        "[1,2",
        "[01]",
        "{\"a\":tru }",
        "[\"\\u12x4\"]",
        "[\"\xed\xa0\x80\"]",
        "123",
        "-",
        "nul",
        "[[[[[[[]]]]]]]",
        "{\"a\":{\"b\":{}}}}",
        " ",
        "[1.5e]"};
    for (const std::string& text : texts) {
        INFO(text);
        const std::string_view view = text;
        const Outcome whole = scan({view});
        std::vector<std::string_view> bytes;
        for (std::size_t i = 0; i <= view.size(); ++i) {
            if (!(scan({view.substr(0, i), view.substr(i)}) == whole)) {
                FAIL_CHECK("cut at " << i);
            }
            for (std::size_t j = i; j <= view.size(); j += 3) {
                if (!(scan({view.substr(0, i), view.substr(i, j - i), view.substr(j)}) == whole)) {
                    FAIL_CHECK("cut at " << i << " and " << j);
                }
            }
            if (i < view.size()) bytes.push_back(view.substr(i, 1));
        }
        CHECK(scan(bytes) == whole);
    }
}

TEST_CASE("the sink hears the outer values only") {
    CHECK(scan({R"({"a":[1,{"x":[]}]})"}).heard ==
          "begin 0 0 {\nname 1 2 a\nname end 1 3 \nbegin 1 5 [\nbegin 2 6 1\nend 2 7 \n"
          "begin 2 8 {\nend 2 16 \nend 1 17 \nend 0 18 \n");
}

TEST_CASE("a sink can end the scan") {
    struct Stopper : DeafSink {
        bool end(std::size_t, std::size_t) { return false; }
    } stopper;
    Scanner scanner(8);
    CHECK(scanner.feed("[1,2]  ", stopper) == Scanner::State::broken);
    CHECK(scanner.problem() == Scanner::Problem::stopped);
    CHECK(scanner.offset() == 5);
}
