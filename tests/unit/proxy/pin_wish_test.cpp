#include "proxy/pin_wish.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace weir;
using proxy::PinWords;

namespace {
const std::string kHash = "0x" + std::string(64, 'c');
}

TEST_CASE("a request is pinned by its header, its query or both alike") {
    const std::string pair = "12;" + kHash;
    const std::string encoded = "block=12%3B" + kHash;
    const std::string plain = "block=" + pair;
    using Kind = chain::BlockRef::Kind;
    struct Row {
        PinWords words;
        Kind kind;
    };
    const std::vector<Row> rows{
        {{.block = "latest", .optional = {}, .query = {}}, Kind::latest},
        {{.block = {}, .optional = {}, .query = "block=latest"}, Kind::latest},
        {{.block = {}, .optional = {}, .query = "a=b&block=0x1&blocks=7"}, Kind::number},
        {{.block = {}, .optional = {}, .query = encoded}, Kind::block},
        {{.block = {}, .optional = {}, .query = "a=%62&bl%6Fck=0x1"}, Kind::number},
        {{.block = "0x1", .optional = {}, .query = "%62lock=0x01"}, Kind::number},
        {{.block = pair, .optional = {}, .query = plain}, Kind::block},
        {{.block = "0x1", .optional = {}, .query = "block=0x01&block=0x1"}, Kind::number},
    };
    for (const Row& row : rows) {
        INFO(row.words.query);
        const auto wish = proxy::read_pin_wish(row.words);
        REQUIRE(wish);
        REQUIRE(*wish);
        CHECK((*wish)->block.kind == row.kind);
    }
}

TEST_CASE("without a block named a request is not pinned, whatever else its query holds") {
    for (const char* query :
         {"", "x=1", "&&=", "blocks=1", "ablock=1", "Block=latest", "bl%256fck=1"}) {
        INFO(query);
        const auto wish = proxy::read_pin_wish({.block = {}, .optional = "1", .query = query});
        REQUIRE(wish);
        CHECK_FALSE(*wish);
    }
}

TEST_CASE("what cannot be read, or says two things, is refused") {
    const std::vector<PinWords> rows{
        {.block = "", .optional = {}, .query = {}},
        {.block = "newest", .optional = {}, .query = {}},
        {.block = {}, .optional = {}, .query = "block="},
        {.block = {}, .optional = {}, .query = "block"},
        {.block = {}, .optional = {}, .query = "block=%6"},
        {.block = {}, .optional = {}, .query = "bloc%6b=%6"},
        {.block = "0x1", .optional = {}, .query = "bloc%6b=0x2"},
        {.block = "latest", .optional = {}, .query = "block=safe"},
        {.block = {}, .optional = {}, .query = "block=0x1&block=0x2"},
        {.block = "latest", .optional = "x", .query = {}},
        {.block = "latest", .optional = "1,,2", .query = {}},
        {.block = "latest", .optional = "-1", .query = {}},
    };
    for (const PinWords& words : rows) {
        INFO(words.block.value_or("-") << ' ' << words.query);
        CHECK_FALSE(proxy::read_pin_wish(words));
    }
}

TEST_CASE("optional calls are named by their places") {
    const auto wish =
        proxy::read_pin_wish({.block = "latest", .optional = " 2, 3,17", .query = {}});
    REQUIRE(wish);
    CHECK((*wish)->optional == std::vector<std::size_t>{2, 3, 17});
}
