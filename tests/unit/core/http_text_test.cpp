#include "core/http_text.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace weir::core;

TEST_CASE("what a token and a field's value may hold") {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    for (int i = 0; i < 256; ++i) {
        const char c = static_cast<char>(i);
        INFO(i);
        const bool letter_or_digit =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool token = letter_or_digit || kMarks.find(c) != std::string_view::npos;
        CHECK(is_token_char(c) == token);
        CHECK(is_token(std::string("a") + c) == token);
        CHECK(is_field_value(std::string("a") + c + "a") ==
              (i == '\t' || (i >= 0x20 && i != 0x7f)));
    }
    CHECK_FALSE(is_token(""));
    CHECK(is_field_value(""));
}

TEST_CASE("a list's elements are trimmed, and empty ones left out") {
    std::vector<std::string_view> elements;
    for_each_element(", a ,,\tb c,d,", [&](std::string_view each) { elements.push_back(each); });
    CHECK(elements == std::vector<std::string_view>{"a", "b c", "d"});
}
