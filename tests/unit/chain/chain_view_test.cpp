#include "unit/chain/view_fixture.hpp"

using namespace weir::chain;
using namespace weir::test;
using namespace std::chrono_literals;
using weir::core::Duration;
using weir::core::TimePoint;

TEST_CASE("an upstream is unknown, right or wrong by its chain id") {
    ChainRules rules;
    rules.chain_id = 5;
    ChainView view(rules);
    CHECK(view.identity(0) == Identity::unknown);
    view.observe_chain_id(0, 5, {});
    CHECK(view.identity(0) == Identity::right);
    view.observe_chain_id(0, 1, {});
    CHECK(view.identity(0) == Identity::wrong);
    CHECK(view.reported_chain_id(0) == 1U);
    for (const Identity after : {Identity::wrong, Identity::wrong, Identity::right}) {
        view.observe_chain_id(0, 5, {});
        CHECK(view.identity(0) == after);
    }
    view.doubt_identity(0);
    CHECK(view.identity(0) == Identity::unknown);
    view.observe_chain_id(0, 5, {});
    CHECK(view.identity(0) == Identity::right);
}

TEST_CASE("a doubt does not wash a wrong chain clean") {
    ChainRules rules;
    rules.chain_id = 5;
    ChainView view(rules);
    view.observe_chain_id(0, 1, {});
    view.observe_chain_id(0, 5, {});
    view.observe_chain_id(0, 5, {});
    view.doubt_identity(0);
    CHECK(view.identity(0) == Identity::wrong);
    view.observe_chain_id(0, 5, {});
    CHECK(view.identity(0) == Identity::wrong);
}

TEST_CASE("with one upstream its word is the chain") {
    ViewFixture f(1);
    for (const std::uint64_t number : {100U, 101U, 1'000'000U, 3U, 0U, 4U}) {
        f.head(0, number);
        CHECK(f.number() == number);
        CHECK(f.view.standing(0) == Standing::current);
        CHECK(f.view.lag(0) == 0);
    }
}

TEST_CASE("with three the head is the highest block that two reach") {
    ViewFixture f(3);
    f.head(0, 100);
    f.head(1, 101);
    f.head(2, 99);
    CHECK(f.number() == 100);
    f.head(0, 102);
    f.head(1, 103);
    CHECK(f.number() == 102);
    f.head(2, 1'000'000);
    CHECK(f.number() == 103);
    CHECK(f.view.standing(2) == Standing::implausible);
    CHECK(f.view.standing(0) == Standing::current);
}

TEST_CASE("a lone far jump moves nobody") {
    SECTION("one of three") {
        ViewFixture f(3);
        f.head(0, 1000);
        f.head(1, 1000);
        f.head(2, 1000);
        f.head(2, 901'000);
        f.now += 12s;
        f.head(0, 1001);
        f.head(1, 1001);
        CHECK(f.number() == 1001);
        CHECK(f.view.standing(2) == Standing::implausible);
    }
    SECTION("one of two") {
        ViewFixture f(2);
        f.head(0, 1000);
        f.head(1, 1000);
        for (int i = 0; i < 20; ++i) {
            f.now += 12s;
            f.head(1, 901'000);
            f.head(0, 1001 + static_cast<std::uint64_t>(i));
            CHECK(f.number() == 1001 + static_cast<std::uint64_t>(i));
        }
        CHECK(f.view.standing(1) == Standing::implausible);
    }
    SECTION("one of two, the first to speak: the other one denies it") {
        ViewFixture f(2);
        f.head(1, 901'000);
        f.head(0, 1000);
        f.now += 61s;
        f.head(1, 901'000);
        f.head(0, 1005);
        CHECK(f.number() == 1005);
    }
}

TEST_CASE("two far jumps one after the other do not bear each other out") {
    ViewFixture f(4);
    for (const std::size_t upstream : {0U, 1U, 2U, 3U}) {
        f.head(upstream, 1000);
    }
    f.head(2, 901'000);
    f.now += 1s;
    f.view.observe_silence(2, f.now);  // the next question has no answer
    f.now += 7s;
    f.head(3, 901'008);
    CHECK(f.number() == 1000);
    CHECK(f.view.standing(2) == Standing::implausible);
    CHECK(f.view.standing(3) == Standing::implausible);
    f.head(0, 1001);
    f.head(1, 1001);
    CHECK(f.number() == 1001);

    SECTION("said again it counts again") {
        f.head(2, 901'009);
        CHECK(f.number() == 901'008);
    }
    SECTION("a plausible head has its say in silence") {
        f.head(2, 1002);
        f.view.observe_silence(2, f.now);
        f.head(0, 1002);
        CHECK(f.number() == 1002);
    }
}

TEST_CASE("an early lone head is provisional and dropped when others speak") {
    for (const std::size_t upstreams : {2U, 3U}) {
        ViewFixture f(upstreams);
        f.head(0, 901'000);  // the liar answers in 5 ms
        CHECK(f.number() == 901'000);
        CHECK(f.view.is_provisional());
        f.now += 500ms;
        f.head(1, 1000);
        CHECK(f.number() == 1000);
        CHECK_FALSE(f.view.is_provisional());
        CHECK(f.view.standing(0) == Standing::implausible);
        CHECK(f.view.standing(1) == Standing::current);
        for (int i = 0; i < 10; ++i) {
            f.now += 12s;
            f.head(0, 901'001 + static_cast<std::uint64_t>(i));
            for (std::size_t honest = 1; honest < upstreams; ++honest) {
                f.head(honest, 1001 + static_cast<std::uint64_t>(i));
            }
            CHECK(f.number() == 1001 + static_cast<std::uint64_t>(i));
        }
    }
}

TEST_CASE(
    "a liar whose timestamps fit its numbers is not taken for a node ahead of one that syncs") {
    ViewFixture f(3);
    Observation liar;
    liar.at = f.now;
    liar.wall = 1'700'000'000;
    liar.latest = {901'000, "0xa"};
    liar.timestamp = 901'000 * 12;  // as a chain of its own would have them, from 1970 on
    Observation honest = liar;
    honest.latest = {1000, "0xb"};
    honest.timestamp = 1000 * 12;
    f.view.observe_head(0, liar);
    f.view.observe_head(1, honest);
    CHECK(f.number() == 1000);
    f.view.observe_head(2, honest);
    CHECK(f.number() == 1000);
}

TEST_CASE("with three the head drops to what two reach, however it was before") {
    ViewFixture f(3);
    f.head(0, 1000);
    f.head(1, 1050);  // plausible while two have spoken
    CHECK(f.number() == 1050);
    CHECK_FALSE(f.view.is_provisional());
    f.head(2, 1000);
    CHECK(f.number() == 1000);
    CHECK(f.view.standing(0) == Standing::current);
    CHECK(f.view.standing(2) == Standing::current);
    CHECK(f.view.fall_backs() == 0);
}

TEST_CASE("a liar that returns when the others are away holds the head no longer than they are") {
    ViewFixture f(3);
    for (std::size_t i = 0; i < 3; ++i) {
        f.head(i, 1000);
    }
    f.head(2, 901'000);
    f.view.set_counted(0, false, f.now);
    f.view.set_counted(1, false, f.now);
    CHECK(f.number() == 1000);
    f.now += 59s;
    f.head(2, 901'004);
    CHECK(f.number() == 1000);
    f.now += 2s;
    f.head(2, 901'005);
    CHECK(f.number() == 901'005);  // nobody denies it
    CHECK(f.view.is_provisional());
    f.view.set_counted(0, true, f.now);
    CHECK(f.number() == 1000);
    f.head(0, 1005);
    CHECK(f.number() == 1005);
    CHECK_FALSE(f.view.is_provisional());
}

TEST_CASE("a node that still syncs does not hold the chain back") {
    ViewFixture f(2);
    Observation observation;
    observation.at = f.now;
    observation.wall = 1'700'000'000;
    observation.latest = {1'000'000, "0xa"};
    observation.timestamp = observation.wall - 5;
    Observation syncing = observation;
    syncing.latest = {100'000, "0xb"};
    syncing.timestamp = observation.timestamp - 900'000 * 12;
    const bool good_first = GENERATE(true, false);
    f.view.observe_head(0, good_first ? observation : syncing);
    f.view.observe_head(1, good_first ? syncing : observation);
    CHECK(f.number() == 1'000'000);
    CHECK(f.view.standing(good_first ? 1 : 0) == Standing::lagging);
}

TEST_CASE("time or another upstream bears a jump out") {
    ViewFixture f(2);
    f.head(0, 1000);
    f.head(1, 1000);
    f.now += 1h;  // nobody was asked: 300 blocks have come
    f.head(0, 1300);
    CHECK(f.number() == 1300);
    f.head(1, 1301);
    CHECK(f.number() == 1301);

    f.head(0, 50'000);
    CHECK(f.number() == 1301);
    f.head(1, 50'001);
    CHECK(f.number() == 50'001);
}

TEST_CASE("if all fall back, that is the head at once") {
    ViewFixture f(2);
    f.head(0, 1000);
    f.head(1, 1000);
    f.head(0, 5);
    CHECK(f.number() == 1000);
    CHECK(f.view.standing(0) == Standing::lagging);
    f.head(1, 5);
    CHECK(f.number() == 5);
    CHECK(f.view.standing(0) == Standing::current);
    f.head(0, 6);
    CHECK(f.number() == 6);
    CHECK_FALSE(f.view.is_degraded());
}

TEST_CASE("all stepping back by a few blocks turns the head, not what was told of it") {
    ViewFixture f(2);
    const auto both = [&f](std::uint64_t number, const char* fork = "") {
        f.head(0, number, fork);
        f.head(1, number, fork);
    };
    both(1000);
    f.head(0, 999);
    f.head(1, 998);
    f.head(0, 997);
    CHECK(f.number() < 1000);
    CHECK(f.view.fall_backs() == 0);
    f.now += 30s;
    both(1002);
    both(999);
    CHECK(f.view.fall_backs() == 0);

    SECTION("beyond that it is the chain's own fall, however it came about") {
        both(998);
        CHECK(f.view.fall_backs() == 1);
        CHECK(f.number() == 998);
        both(997);
        CHECK(f.view.fall_backs() == 1);
    }
    SECTION("and so it is with another block at a height that was seen") {
        both(1000, "b");
        CHECK(f.view.fall_backs() == 1);
        CHECK(f.number() == 1000);
    }
    SECTION("and when they stay so for longer than such a step takes to catch up") {
        f.now += 47s;
        f.view.refresh(f.now);
        CHECK(f.view.fall_backs() == 0);
        f.now += 1s;
        f.view.refresh(f.now);
        CHECK(f.view.fall_backs() == 1);
        f.now += 100s;
        f.view.refresh(f.now);
        CHECK(f.view.fall_backs() == 1);
    }
    SECTION("but who comes back in time has not fallen") {
        f.now += 35s;
        both(1002);
        f.now += 35s;
        both(1001);
        f.now += 35s;
        f.view.refresh(f.now);
        CHECK(f.view.fall_backs() == 0);
        CHECK(f.number() == 1001);
    }
}

TEST_CASE("with one upstream its word is the chain, by whatever it steps back") {
    ViewFixture f(1);
    f.head(0, 1000);
    f.head(0, 999);
    CHECK(f.number() == 999);
    CHECK(f.view.fall_backs() == 1);
}

TEST_CASE("an ill upstream's word does not count, and its absence does not turn the head back") {
    ViewFixture f(2);
    f.head(0, 1000);
    f.head(1, 998);
    f.view.set_counted(0, false, f.now);
    CHECK(f.number() == 1000);
    CHECK(f.view.lag(1) == 2);
    CHECK(f.view.standing(1) == Standing::current);
}

TEST_CASE("those that lag are out until nobody has shown a newer head for long") {
    ViewFixture f(2);
    f.head(0, 1000);
    f.head(1, 990);
    CHECK(f.view.standing(1) == Standing::lagging);
    CHECK(f.view.lag(1) == 10);
    f.view.set_counted(0, false, f.now);
    f.now += 59s;
    f.head(1, 991);
    CHECK(f.view.standing(1) == Standing::lagging);
    f.now += 2s;
    f.view.refresh(f.now);
    CHECK(f.number() == 991);
    CHECK(f.view.standing(1) == Standing::current);
    CHECK(f.view.is_degraded());
    f.head(1, 1001);
    CHECK_FALSE(f.view.is_degraded());
}

TEST_CASE("lag is judged from when an upstream was last asked") {
    ViewFixture f(2, 250ms);
    CHECK(f.view.tolerated_lag() == 23);
    f.head(0, 1000);
    f.now += 5s;
    f.head(1, 1020);
    CHECK(f.view.lag(0) == 0);
    CHECK(f.view.standing(0) == Standing::current);
    f.head(0, 990);  // asked now, and really behind
    CHECK(f.view.lag(0) == 30);
    CHECK(f.view.standing(0) == Standing::lagging);
    CHECK(ViewFixture(2, 12s).view.tolerated_lag() == 3);
}

TEST_CASE("a one-block reorganisation changes the hash and excludes nobody") {
    ViewFixture f(2);
    f.head(0, 100, "a");
    f.head(1, 100, "a");
    f.head(0, 100, "b");
    CHECK(f.view.head()->hash == "0x100a");  // one still holds it
    f.head(1, 100, "b");
    CHECK(f.view.head()->hash == "0x100b");
    CHECK(f.view.standing(0) == Standing::current);
    CHECK(f.view.standing(1) == Standing::current);
}

TEST_CASE("the block time is learned from timestamps") {
    struct Row {
        std::uint64_t blocks_per_step;
        std::uint64_t seconds_per_step;
        Duration expected;
    };
    for (const Row& row : {Row{1, 12, 12s}, Row{4, 1, 250ms}, Row{1, 2, 2s}, Row{6, 12, 2s}}) {
        ChainRules rules;
        rules.chain_id = 1;
        ChainView view(rules);
        view.observe_chain_id(0, 1, {});
        CHECK(view.block_time() == Duration(12s));
        Observation observation;
        observation.timestamp = 1'700'000'000;
        observation.latest.number = 100;
        for (int i = 0; i < 100; ++i) {
            observation.latest.number += row.blocks_per_step;
            observation.timestamp += row.seconds_per_step;
            view.observe_head(0, observation);
        }
        CHECK(view.block_time() > row.expected * 8 / 10);
        CHECK(view.block_time() < row.expected * 12 / 10);
        observation.timestamp = ~std::uint64_t{0};  // a clock set by hand
        observation.latest.number += 1;
        view.observe_head(0, observation);
        CHECK(view.block_time() <= Duration(60s));
    }
}

TEST_CASE("a successor goes on with what was known of the upstreams that are left") {
    const TimePoint now{};
    ChainRules rules;
    rules.chain_id = 1;
    rules.upstreams = 3;
    ChainView before(rules);
    for (const std::size_t upstream : {0U, 1U, 2U}) {
        before.observe_chain_id(upstream, 1, now);
        before.observe_head(
            upstream,
            {.latest = {100 + upstream, "0xaa"}, .parent_hash = "0xbb", .timestamp = 0, .at = now});
    }
    before.note({.kind = DisagreementKind::reorg, .upstream = 0, .other = 2, .at = now});
    before.note({.kind = DisagreementKind::reorg, .upstream = 1, .other = 0, .at = now});
    rules.upstreams = 2;
    const std::vector<std::optional<std::size_t>> places = {2, std::nullopt};
    const ChainView after(rules, before, places);
    CHECK(after.head() == before.head());
    CHECK(after.fall_backs() == before.fall_backs());
    CHECK(after.identity(0) == Identity::right);
    CHECK(after.latest(0)->latest.number == 102);
    CHECK(after.identity(1) == Identity::unknown);
    CHECK_FALSE(after.latest(1));
    CHECK(after.evidence().kept().empty());
    const std::vector<std::optional<std::size_t>> swapped = {1, 0};
    const ChainView second(rules, before, swapped);
    REQUIRE(second.evidence().kept().size() == 2);
    CHECK(second.evidence().kept()[0].upstream == 1);
    CHECK_FALSE(second.evidence().kept()[0].other);
    CHECK(second.evidence().kept()[1].upstream == 0);
    CHECK(second.evidence().kept()[1].other == 1);
}

TEST_CASE("one that is apart has no say in the head, nor in its hash, and gets it back") {
    ViewFixture f(3);
    const auto heads = [&f](std::uint64_t from, std::uint64_t to, const char* fork) {
        for (std::uint64_t n = from; n <= to; ++n, f.now += 12s) {
            f.head(0, n, fork);
            f.head(1, n);
            f.head(2, n);
        }
    };
    heads(100, 103, "f");
    CHECK(f.view.is_apart(0));
    CHECK_FALSE(f.view.is_apart(1));
    CHECK(f.view.head()->hash == "0x103");
    f.head(0, 104, "f");
    f.head(1, 104);
    CHECK(f.view.head()->hash == "0x104");  // not the one of whoever said it first
    f.head(2, 104);
    // On a branch of its own it cannot lead the head on.
    f.head(0, 105, "f");
    f.head(0, 106, "f");
    CHECK(f.number() == 104);
    heads(105, 105, "");
    CHECK_FALSE(f.view.is_apart(0));
    CHECK(f.view.standing(0) == Standing::current);
}
