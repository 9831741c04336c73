#include "chain/block_choice.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace weir;
using chain::Claim;

namespace {

// "100a" of "99a": number and branch of a head, and of the block before it where that is known.
struct Head {
    std::string block;
    std::string parent;
};

chain::BlockId block_of(const std::string& text) {
    std::size_t digits = 0;
    const std::uint64_t number = std::stoull(text, &digits);
    return {number, text};
}

std::vector<Claim> claims_of(const std::vector<Head>& heads) {
    std::vector<Claim> claims;
    for (const Head& head : heads) {
        claims.push_back({claims.size(), block_of(head.block), head.parent});
    }
    return claims;
}

}  // namespace

TEST_CASE("the block is the one that most upstreams have, and the newest of these") {
    struct Row {
        std::vector<Head> heads;
        std::uint64_t at_least;
        std::string expected;
    };
    const std::vector<Row> rows{
        {{{"100a", ""}}, 0, "100a"},
        {{{"100a", ""}, {"101a", "100a"}}, 0, "100a"},
        {{{"100a", ""}, {"101a", ""}}, 0, "100a"},
        {{{"100a", ""}, {"101b", "100b"}}, 0, "101b"},  // one each: the newest
        {{{"100a", ""}, {"100a", ""}, {"101b", "100b"}}, 0, "100a"},
        {{{"100a", ""}, {"100c", ""}, {"100a", ""}}, 0, "100a"},  // two the same
        {{{"100c", ""}, {"101a", "100a"}, {"100a", ""}}, 0, "100a"},
        {{{"97a", ""}, {"100a", ""}, {"100a", ""}}, 0, "97a"},
        {{{"97a", ""}, {"100a", ""}, {"100a", ""}}, 98, "100a"},  // not before what was given out
        {{{"97a", ""}, {"98a", ""}}, 200, "97a"},                 // nobody reaches that any more
        {{{"100a", ""}, {"103a", ""}, {"103b", ""}}, 0, "100a"},
    };
    for (const Row& row : rows) {
        INFO(row.expected << " of " << row.heads.size());
        const auto chosen = chain::choose_block(claims_of(row.heads), row.at_least);
        REQUIRE(chosen);
        CHECK(chosen->hash == row.expected);
    }
    CHECK_FALSE(chain::choose_block({}, 0));
}

TEST_CASE("what a head says of another block") {
    using chain::Holds;
    const Claim claim{0, {100, "100a"}, "99a"};
    CHECK(chain::holds(claim, {100, "100a"}) == Holds::yes);
    CHECK(chain::holds(claim, {100, "100b"}) == Holds::no);
    CHECK(chain::holds(claim, {101, "101a"}) == Holds::no);
    CHECK(chain::holds(claim, {99, "99a"}) == Holds::yes);
    CHECK(chain::holds(claim, {99, "99b"}) == Holds::no);
    CHECK(chain::holds(claim, {98, "98b"}) == Holds::perhaps);
    CHECK(chain::holds({0, {100, "100a"}, ""}, {99, "99b"}) == Holds::perhaps);
}

TEST_CASE("the number of a hash is the one that most say, and none where as many say another") {
    const auto agreed = [](const std::vector<std::uint64_t>& numbers) -> std::uint64_t {
        std::vector<Claim> claims;
        for (const std::uint64_t number : numbers) {
            claims.push_back({claims.size(), {number, "a"}, "p"});
        }
        const auto block = chain::agreed_block(claims);
        return block ? block->number : 0;
    };
    CHECK(agreed({}) == 0);
    CHECK(agreed({90}) == 90);
    CHECK(agreed({85, 90, 90}) == 90);
    CHECK(agreed({90, 90, 85}) == 90);
    CHECK(agreed({90, 99, 90}) == 90);
    CHECK(agreed({85, 90}) == 0);
    CHECK(agreed({90, 85, 90, 85}) == 0);
    CHECK(agreed({90, 85, 90, 85, 85}) == 85);
    CHECK(agreed({1, 2, 3, 3}) == 3);
}
