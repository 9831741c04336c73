#include "config/document.hpp"

#include "support/catch.hpp"

#include <chrono>

using namespace weir::config;

namespace {

std::string repeat(const std::string& piece, std::size_t times) {
    std::string text;
    text.reserve(piece.size() * times);
    for (std::size_t i = 0; i < times; ++i) {
        text += piece;
    }
    return text;
}

std::string refusal(std::string_view text) {
    const auto document = parse_document(text);
    return document ? "accepted" : to_string(document.error());
}

}  // namespace

TEST_CASE("a document is a tree in file order, repeated keys included") {
    const auto document = parse_document("b: 1\na: [x, ~, 'y']\nb: {}\n");
    REQUIRE(document.has_value());
    const Node& root = **document;
    REQUIRE(root.kind == Node::Kind::map);
    REQUIRE(root.entries.size() == 3);
    CHECK(root.entries[0].first == "b");
    CHECK(root.entries[0].second->text == "1");
    CHECK(root.entries[1].second->kind == Node::Kind::sequence);
    CHECK(root.entries[1].second->items[1]->kind == Node::Kind::null);
    CHECK(root.entries[1].second->items[2]->text == "y");
    CHECK(root.entries[2].second->kind == Node::Kind::map);
    CHECK(root.entries[2].second->line == 3);
}

TEST_CASE("a document without values is null") {
    for (const char* empty : {"", "\n\n", "# only words\n", "---\n", "~", "null", "---\n...\n",
                              "\xef\xbb\xbf# with a byte order mark\n"}) {
        INFO(empty);
        const auto document = parse_document(empty);
        REQUIRE(document.has_value());
        CHECK((*document)->kind == Node::Kind::null);
    }
}

TEST_CASE("aliases stand for their anchors") {
    const auto document = parse_document("a: &x {k: v}\nb: *x\n");
    REQUIRE(document.has_value());
    CHECK((*document)->entries[1].second->entries[0].second->text == "v");
}

TEST_CASE("what is no plain YAML is refused with its place") {
    using Catch::Matchers::Contains;
    CHECK_THAT(refusal("a: 1\nb: [1, 2\nc: 3\n"), Contains("line 3, column 2: not YAML"));
    CHECK_THAT(refusal("a: b: c\n"), Contains("line 1, column 5: not YAML"));
    CHECK_THAT(refusal("a: 1\n---\nb: 2\n"), Contains("second document"));
    CHECK_THAT(refusal("a: !!str 1\n"), Contains("tags are not used here"));
    CHECK_THAT(refusal("? [a]\n: b\n"), Contains("a key must be plain text"));
    CHECK_THAT(refusal("? {a: b}\n: c\n"), Contains("a key must be plain text"));
    CHECK_THAT(refusal("~: c\n"), Contains("a key must be plain text"));
    CHECK_THAT(refusal("a: &x {b: *x}\n"), Contains("inside the value that it names"));
    CHECK_THAT(refusal("a: *nowhere\n"), Contains("not YAML"));
    CHECK_THAT(refusal("a: 1\n\x04"
                       "b: 2\n"),
               Contains("line 2, column 1: a control character"));
    CHECK_THAT(refusal(std::string_view("a\0: 1\n", 7)), Contains("control character"));
    CHECK_THAT(refusal("a: \xff\n"), Contains("not UTF-8"));
    CHECK_THAT(refusal("a: \xc0\x80\n"), Contains("not UTF-8"));
    CHECK_THAT(refusal("\xff\xfe"
                       "a"),
               Contains("not UTF-8"));
    CHECK_THAT(refusal("a: \t- b\n\t- c"), Contains("not YAML"));
}

TEST_CASE("bombs are refused, and quickly") {
    std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string alias = "*a" + std::to_string(i - 1);
        laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias +
                  repeat(", " + alias, 9) + "]\n";
    }
    const std::size_t most = kMaxFileBytes;
    const std::vector<std::pair<const char*, std::string>> bombs = {
        {"laughs", laughs},
        {"flow sequences", repeat("[", most)},
        {"flow maps", repeat("{", most)},
        {"flow maps with keys", repeat("{a: ", most / 4)},
        {"block sequences", repeat("- ", most / 2)},
        {"explicit keys", repeat("? ", most / 2)},
        {"mixed", repeat("[{a: ", most / 5)},
        {"closing", repeat("]", most)},
        {"colons", repeat(":", most)},
        {"anchors", repeat("&a ", most / 3)},
        {"tags", repeat("!a ", most / 3)},
        {"items", "[" + repeat("a,", most / 2 - 2) + "]"},
        {"lines of items", repeat("- a\n", most / 4)},
        {"documents", repeat("---\n", most / 4)},
        {"directives", repeat("%YAML 1.2\n", most / 10)},
        {"open quote", "\"" + repeat("a", most - 2)},
        {"open literal", "a: |\n" + repeat(" \n", most / 2 - 10) + "\t"},
        {"too large", repeat("#", most + 1)},
    };
    for (const auto& [name, text] : bombs) {
        INFO(name);
        const auto start = std::chrono::steady_clock::now();
        const auto document = parse_document(text);
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - start);
        UNSCOPED_INFO("took " << took.count() << " ms");
        CHECK_FALSE(document.has_value());
        CHECK(took < std::chrono::seconds(20));
    }
}
