#include "core/harmless.hpp"

#include "support/catch.hpp"

using namespace weir::core;

TEST_CASE("what cannot be seen or turns the text around becomes a blank") {
    CHECK(harmless("plain, und \u00e4\u00f6\u00fc, \u4e2d\u6587, \U0001F600") ==
          "plain, und \u00e4\u00f6\u00fc, \u4e2d\u6587, \U0001F600");
    CHECK(harmless("a\u202eb") == "a b");               // right-to-left override
    CHECK(harmless("a\u2066b\u2069c") == "a b c");      // isolates
    CHECK(harmless("a\u200fb\u061cc") == "a b c");      // marks
    CHECK(harmless("a\u200bb\ufeffc") == "a b c");      // no width
    CHECK(harmless("a\u2028b\u2029c") == "a b c");      // other ends of a line
    CHECK(harmless("a\u00adb\U000E0041c") == "a b c");  // soft hyphen, tag
    CHECK(harmless("a\x1b[31m\nb\x7f\u009bc") == "a [31m b  c");
    CHECK(harmless("a\xff\xc3") == "a  ");
    CHECK(harmless(std::string_view("\0", 1)) == " ");
    CHECK(harmless("") == "");
}

TEST_CASE("a text is cut between characters") {
    std::string text = "ab\u00e4";
    cut_between_characters(text, 4);
    CHECK(text == "ab\u00e4");
    cut_between_characters(text, 3);
    CHECK(text == "ab");
    text = "\U0001F600";
    cut_between_characters(text, 3);
    CHECK(text.empty());
}
