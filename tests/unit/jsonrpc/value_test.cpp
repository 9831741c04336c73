#include "jsonrpc/value.hpp"

#include "support/catch.hpp"

#include <string>

using namespace weir::jsonrpc;
using namespace std::string_literals;

TEST_CASE("elements of an array") {
    const std::string array = R"( [ {"a":[1,2]} , "x,]" , [ ] , -1.5 , null ] )";
    const std::string items[] = {R"({"a":[1,2]})", R"("x,]")", "[ ]", "-1.5", "null"};
    CHECK(element_count(array) == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(element(array, i) == items[i]);
    CHECK(element(array, 5) == "");
    for (const char* other : {"", "[]", "{}", R"({"a":1})", "1", R"("[1]")", "[", "[,1]", "nope"}) {
        INFO(other);
        CHECK(element(other, 0) == "");
        CHECK(element_count(other) == 0);
    }
    CHECK(element_count("[1,2") == 0);
    CHECK(element("[1,2", 1) == "");
}

TEST_CASE("members of an object") {
    const std::string object =
        R"({"a":{"b":1},"c" : "x" ,"a\u0062c":[2],"":0,"twice":1,"twice":2,"q\"":3})";
    CHECK(member(object, "a") == R"({"b":1})");
    CHECK(member(object, "b") == "");
    CHECK(member(object, "c") == R"("x")");
    CHECK(member(object, "abc") == "[2]");
    CHECK(member(object, "") == "0");
    CHECK(member(object, "twice") == "2");
    CHECK(member(object, "q\"") == "3");
    CHECK(member(R"({"a name that is far longer than most":1})",
                 "a name that is far longer than most") == "1");
    CHECK(member(R"({"\u0061 name that is far longer than most":1})",
                 "a name that is far longer than most") == "1");
    for (const char* other :
         {"", "[]", "{}", "1", R"(["a"])", R"({"a":1)", R"({"a":1}x)", "{\"a"}) {
        INFO(other);
        CHECK(member(other, "a") == "");
    }
}

TEST_CASE("strings are decoded") {
    struct Row {
        std::string value;
        std::optional<std::string> decoded;
    };
    const Row rows[] = {
        {R"("")", ""},
        {R"("latest")", "latest"},
        {R"("a\"\\\/\b\f\n\r\tz")", "a\"\\/\b\f\n\r\tz"},
        {R"("\u0041\u00e9\u20ac\u0000")", "A\xc3\xa9\xe2\x82\xac\0"s},
        {R"("\ud83d\ude00 \uDBFF\uDFFF")", "\xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf"},
        {R"("\ud83d")", "\xef\xbf\xbd"},
        {R"("\ud83dx")", "\xef\xbf\xbdx"},
        {R"("\ud83d\n")", "\xef\xbf\xbd\n"},
        {R"("\ude00\ud83d\ud83d\ude00")", "\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {R"("\ud83d\u0041")",
         "\xef\xbf\xbd"
         "A"},
        {"\"\xc3\xa9\"", "\xc3\xa9"},
        {"1", std::nullopt},
        {"null", std::nullopt},
        {R"(["a"])", std::nullopt},
        {"", std::nullopt},
        {"\"", std::nullopt},
        {R"("a" )", std::nullopt},
        {R"("a"b")", std::nullopt},
        {R"("\q")", std::nullopt},
        {R"("\u12")", std::nullopt},
        {R"("\")", std::nullopt},
        {"\"\xff\"", std::nullopt},
    };
    for (const Row& row : rows) {
        INFO(row.value);
        CHECK(string_value(row.value) == row.decoded);
    }
    CHECK(plain_string(R"("latest")") == "latest");
    CHECK(plain_string(R"("")") == "");
    for (const char* other : {R"("a\n")", R"("a"b")", "\"", "", "1", R"("a)", R"(a")"}) {
        INFO(other);
        CHECK_FALSE(plain_string(other).has_value());
    }
}

TEST_CASE("kinds of values") {
    CHECK(is_string(R"("a")"));
    CHECK(is_object("{}"));
    CHECK(is_array("[]"));
    CHECK(is_null("null"));
    for (const bool wrong : {is_string("1"), is_object("[]"), is_array("{}"), is_null("0"),
                             is_string(""), is_object(""), is_array(""), is_null("")}) {
        CHECK_FALSE(wrong);
    }
}

TEST_CASE("strings are written") {
    const auto written = [](std::string_view text) {
        std::string out = "x";
        append_string(out, text);
        return out;
    };
    CHECK(written("") == R"(x"")");
    CHECK(written("a\"b\\c/\b\f\n\r\t\x01\x1f\x7f\0"s) ==
          "x\"a\\\"b\\\\c/\\u0008\\u000c\\n\\r\\t\\u0001\\u001f\x7f\\u0000\"");
    CHECK(written("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") ==
          "x\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    CHECK(written("a\xff"
                  "b\xc3") ==
          "x\"a\xef\xbf\xbd"
          "b\xef\xbf\xbd\"");
    CHECK(written("\xed\xa0\x80") == "x\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    const std::string lengthy = std::string(100, 'a') + "\n" + std::string(100, 'b');
    CHECK(string_value(written(lengthy).substr(1)) == lengthy);
}
