#include "chain/block_ref.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace weir;
using chain::BlockRef;
using Kind = BlockRef::Kind;

namespace {
const std::string kHash = "0x" + std::string(62, 'a') + "01";
const std::string kLoud = "0x" + std::string(62, 'A') + "01";
}  // namespace

TEST_CASE("block references are read in every form and written as answers name them") {
    struct Row {
        std::string text;
        BlockRef expected;
    };
    const std::vector<Row> rows{
        {"latest", {Kind::latest, {}}},
        {"safe", {Kind::safe, {}}},
        {" finalized ", {Kind::finalized, {}}},
        {"0x0", {Kind::number, {0, {}}}},
        {"0x1B4", {Kind::number, {436, {}}}},
        {"0xffffffffffffffff", {Kind::number, {18446744073709551615U, {}}}},
        {kHash, {Kind::hash, {0, kHash}}},
        {kLoud, {Kind::hash, {0, kHash}}},
        {"12;" + kLoud, {Kind::block, {12, kHash}}},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const auto read = chain::parse_block_ref(row.text);
        REQUIRE(read);
        CHECK(*read == row.expected);
    }
    CHECK(chain::to_reference({12, kHash}) == "12;" + kHash);
}

TEST_CASE("what is no block reference is read as none") {
    const std::vector<std::string> texts{"",
                                         " ",
                                         "Latest",
                                         "pending",
                                         "earliest",
                                         "12",
                                         "0x",
                                         "0xg",
                                         "0x1ffffffffffffffff",
                                         kHash + "0",
                                         kHash.substr(0, 65),
                                         "12;",
                                         ";" + kHash,
                                         "0xc;" + kHash,
                                         "12;" + kHash + ";",
                                         "12 ;" + kHash,
                                         "-1;" + kHash,
                                         "18446744073709551616;" + kHash,
                                         "latest,latest",
                                         "0x1 0x1"};
    for (const std::string& text : texts) {
        INFO(text);
        CHECK_FALSE(chain::parse_block_ref(text));
    }
}
