#include "chain/evidence.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace weir::chain;
using namespace std::chrono_literals;

namespace {

Observation block(std::uint64_t number, const std::string& fork = "a") {
    Observation observation;
    observation.latest = {number, "0x" + std::to_string(number) + fork};
    observation.parent_hash = "0x" + std::to_string(number - 1) + fork;
    observation.at = weir::core::TimePoint(1h);
    return observation;
}

std::vector<DisagreementKind> kinds(const Evidence& evidence) {
    std::vector<DisagreementKind> all;
    for (const Disagreement& each : evidence.kept()) {
        all.push_back(each.kind);
    }
    return all;
}

using Kinds = std::vector<DisagreementKind>;

}  // namespace

TEST_CASE("upstreams that agree leave no evidence, at whatever heights") {
    Evidence evidence(3);
    for (std::uint64_t n = 100; n < 400; ++n) {
        evidence.on_head(0, block(n));
        evidence.on_head(1, block(n - n % 3));
        evidence.on_head(2, block(n - n % 2));
    }
    CHECK(evidence.kept().empty());
}

TEST_CASE("a replaced block is a reorganisation, once for each upstream that saw it") {
    Evidence evidence(2);
    evidence.on_head(0, block(100));
    evidence.on_head(1, block(100));
    evidence.on_head(0, block(100, "b"));
    evidence.on_head(1, block(100, "b"));
    evidence.on_head(0, block(101, "b"));
    CHECK(kinds(evidence) == Kinds{DisagreementKind::reorg, DisagreementKind::reorg});
    CHECK(evidence.kept()[0].upstream == 0);
    CHECK(evidence.kept()[0].block.hash == "0x100b");
    CHECK(evidence.kept()[0].other_hash == "0x100a");
    CHECK_FALSE(evidence.kept()[0].other.has_value());
    CHECK(evidence.kept()[1].serial == 2);
}

TEST_CASE("a reorganisation is seen by the parent's hash too") {
    Evidence evidence(1);
    evidence.on_head(0, block(100));
    evidence.on_head(0, block(101, "b"));
    CHECK(kinds(evidence) == Kinds{DisagreementKind::reorg});
}

TEST_CASE(
    "two blocks for one height are a reorganisation, at height after height another network") {
    Evidence evidence(2);
    for (std::uint64_t n = 100; n < 110; ++n) {
        evidence.on_head(0, block(n));
        evidence.on_head(1, block(n, "x"));
        evidence.on_head(1, block(n, "x"));  // asked twice: one height all the same
    }
    CHECK(kinds(evidence) == Kinds{DisagreementKind::reorg, DisagreementKind::wrong_network});
    CHECK(evidence.kept()[1].block.number == 102);
    CHECK(evidence.kept()[1].other == 0U);
}

TEST_CASE("stepping back by up to three blocks is noise, farther is a regression") {
    Evidence evidence(1);
    evidence.on_head(0, block(100));
    evidence.on_head(0, block(97));
    CHECK(evidence.kept().empty());
    evidence.on_head(0, block(93));
    CHECK(kinds(evidence) == Kinds{DisagreementKind::regression});
}

TEST_CASE("an illness is noted once until it is over, and a liar's claims push out nobody's") {
    Evidence evidence(2);
    evidence.on_lag(0, 7, block(100).latest, {});
    evidence.on_lag(0, 8, block(101).latest, {});
    evidence.on_well(0);
    evidence.on_lag(0, 9, block(102).latest, {});
    evidence.on_implausible(0, block(900'000).latest, {});
    CHECK(kinds(evidence) ==
          Kinds{DisagreementKind::lag, DisagreementKind::lag, DisagreementKind::implausible_head});
    evidence.on_head(1, block(100));
    for (std::uint64_t n = 0; n < 1000; ++n) {
        evidence.on_head(0, block(900'000 + n));
    }
    evidence.on_head(0, block(100, "z"));
    CHECK(evidence.kept().back().other_hash == "0x100a");
}

TEST_CASE("what is kept is bounded, and serial numbers go on") {
    Evidence evidence(1);
    for (int i = 0; i < 1000; ++i) {
        evidence.note({.kind = DisagreementKind::transaction_hash,
                       .upstream = 0,
                       .block = {},
                       .other = std::nullopt,
                       .other_hash = {},
                       .detail = {},
                       .at = {}});
    }
    CHECK(evidence.kept().size() == Evidence::kKept);
    CHECK(evidence.kept().back().serial == 1000);
    CHECK(to_string(evidence.kept().back().kind) == "transaction_hash");
}

namespace {

// What each upstream says at a height: its branch, a letter for each; '.' where it says nothing,
// '-' where its word does not count.
struct Say {
    std::uint64_t number;
    std::string branches;
};

Evidence after(std::size_t upstreams, const std::vector<Say>& said) {
    Evidence evidence(upstreams);
    std::vector<bool> counted(upstreams, true);
    for (const Say& each : said) {
        for (std::size_t i = 0; i < upstreams; ++i) {
            counted[i] = each.branches[i] != '-';
            if (each.branches[i] != '.' && counted[i]) {
                evidence.on_head(i, block(each.number, each.branches.substr(i, 1)));
            }
            evidence.judge_apart(counted, weir::core::TimePoint(1h));
        }
    }
    return evidence;
}

std::string apart(const Evidence& evidence, std::size_t upstreams) {
    std::string all;
    for (std::size_t i = 0; i < upstreams; ++i) {
        all += evidence.is_apart(i) ? 'x' : '.';
    }
    return all;
}

std::vector<Say> heights(std::uint64_t from, std::uint64_t to, const std::string& branches) {
    std::vector<Say> all;
    for (std::uint64_t n = from; n <= to; ++n) {
        all.push_back({n, branches});
    }
    return all;
}

std::vector<Say> operator+(std::vector<Say> a, const std::vector<Say>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

TEST_CASE("who is apart: other hashes than a strict majority has, at three heights and more") {
    struct Case {
        const char* what;
        std::vector<Say> said;
        std::string apart;
    };
    const std::vector<Case> cases = {
        {"all agree", heights(1, 9, "aaa"), "..."},
        {"one against two", heights(1, 9, "baa"), "x.."},
        {"whoever it is", heights(1, 9, "aab"), "..x"},
        {"one against one", heights(1, 9, "ab"), ".."},
        {"alone", heights(1, 9, "a"), "."},
        {"two against two", heights(1, 9, "abab"), "...."},
        {"two against three", heights(1, 9, "babaa"), "x.x.."},
        {"one against two and two", heights(1, 9, "aabbc"), "....."},
        {"three of three differ", heights(1, 9, "abc"), "..."},
        {"one height: a reorganisation", heights(1, 5, "aaa") + heights(6, 6, "baa"), "..."},
        {"two heights, and back",
         heights(1, 5, "aaa") + heights(6, 7, "baa") + heights(8, 8, "aaa"), "..."},
        {"from some height on", heights(1, 5, "aaa") + heights(6, 9, "baa"), "x.."},
        {"it heals", heights(1, 9, "baa") + heights(10, 10, "aaa"), "..."},
        {"all turn to its branch", heights(1, 9, "baa") + heights(10, 10, "bbb"), "..."},
        {"another one turns to its branch, and the last is apart in time",
         heights(1, 9, "baa") + heights(10, 13, "bba"), "..x"},
        {"one is silent: one against one since, and nothing heals it",
         heights(1, 9, "baa") + heights(10, 30, "ba."), "x.."},
        {"it heals by the one that is left",
         heights(1, 9, "baa") + heights(10, 30, "ba.") + heights(31, 31, "aa."), "..."},
        {"one does not count", heights(1, 9, "ba-"), "..."},
        {"it does not count itself", heights(1, 9, "-aa"), "..."},
        {"different heights only",
         {{1, "b.."}, {5, ".a."}, {9, "..a"}, {13, "b.."}, {17, ".a."}, {21, "..a"}},
         "..."},
        {"a deep reorganisation that one sees late",
         heights(1, 9, "aaa") + heights(9, 11, ".bb") + heights(11, 11, "b.."), "..."},
    };
    for (const Case& each : cases) {
        CAPTURE(each.what);
        CHECK(apart(after(each.apart.size(), each.said), each.apart.size()) == each.apart);
    }
}

TEST_CASE("a fork is told once, and whoever differs is named first, in whatever order they speak") {
    for (const char* branches : {"baa", "aba", "aab"}) {
        CAPTURE(branches);
        const Evidence evidence = after(3, heights(1, 40, branches));
        const std::size_t odd = std::string(branches).find('b');
        const Kinds all = kinds(evidence);
        CHECK(std::count(all.begin(), all.end(), DisagreementKind::wrong_network) == 1);
        CHECK(all.size() <= 4);
        for (const Disagreement& each : evidence.kept()) {
            CHECK(each.upstream == odd);
            CHECK(each.block.hash.back() == 'b');
            CHECK(each.other_hash.back() == 'a');
            CHECK(each.other != odd);
        }
    }
    // Two on one branch against three: each of them, though they agree with each other.
    const Evidence two = after(5, heights(1, 40, "babaa"));
    std::vector<std::size_t> told;
    for (const Disagreement& each : two.kept()) {
        if (each.kind == DisagreementKind::wrong_network) {
            told.push_back(each.upstream);
        }
    }
    CHECK(told == std::vector<std::size_t>{0, 2});
}

TEST_CASE("a second fork after the first is told again") {
    const Evidence evidence =
        after(3, heights(1, 9, "baa") + heights(10, 12, "aaa") + heights(13, 20, "baa"));
    CHECK(evidence.is_apart(0));
    const Kinds all = kinds(evidence);
    CHECK(std::count(all.begin(), all.end(), DisagreementKind::wrong_network) == 2);
}
