#include "chain/evidence.hpp"

#include "support/catch.hpp"

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
