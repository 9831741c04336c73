// What answers to clients do to the head: they move it forward, and by what is plausible.
#include "unit/chain/view_fixture.hpp"

#include <random>

using namespace weir::chain;
using namespace weir::test;
using namespace std::chrono_literals;

namespace {

struct Answers : ViewFixture {
    using ViewFixture::ViewFixture;

    void answer(std::size_t upstream, std::uint64_t number, const std::string& hash = "") {
        Observation observation;
        observation.latest = {number, hash};
        observation.at = now;
        view.observe_answer(upstream, observation);
    }
    std::uint64_t own(std::size_t upstream) const { return view.latest(upstream)->latest.number; }
};

}  // namespace

TEST_CASE("an answer moves an upstream's head, and two of them the chain's") {
    Answers f(3);
    for (std::size_t i = 0; i < 3; ++i) {
        f.head(i, 100);
    }
    f.answer(0, 101);
    CHECK(f.own(0) == 101);
    CHECK(f.number() == 100);
    f.answer(1, 101);
    CHECK(f.number() == 101);
    CHECK(f.view.head()->hash.empty());
    CHECK(f.view.head_block()->number == 100);
    f.answer(2, 101, "0x101");
    CHECK(f.view.head()->hash == "0x101");
    CHECK(f.view.head_block() == f.view.head());
    CHECK(f.view.evidence().kept().empty());
}

TEST_CASE("the same number once more keeps the hash and renews the time") {
    Answers f(2);
    f.head(0, 100);
    f.now += 5s;
    f.answer(0, 100);
    CHECK(f.view.latest(0)->latest.hash == "0x100");
    CHECK(f.view.latest(0)->at == f.now);
    CHECK(f.view.head()->hash == "0x100");
}

TEST_CASE("an answer never turns a head back, and none counts before the first poll") {
    const std::size_t upstreams = GENERATE(1U, 2U, 3U);
    Answers f(upstreams);
    f.answer(0, 100);
    CHECK_FALSE(f.view.latest(0));
    for (std::size_t i = 0; i < upstreams; ++i) {
        f.head(i, 100);
    }
    for (std::size_t i = 0; i < upstreams; ++i) {
        f.answer(i, 97);
        f.answer(i, 2);
    }
    CHECK(f.number() == 100);
    CHECK(f.own(0) == 100);
    CHECK(f.view.fall_backs() == 0);
}

TEST_CASE("a cluster that is a block behind what it answered has not fallen back") {
    Answers f(2);
    for (std::size_t i = 0; i < 2; ++i) {
        f.head(i, 100);
        f.answer(i, 103);
    }
    CHECK(f.number() == 103);
    f.head(0, 100);
    f.head(1, 100);
    CHECK(f.number() == 103);
    CHECK(f.view.fall_backs() == 0);
    f.head(0, 50);
    f.head(1, 50);
    CHECK(f.number() == 50);
    CHECK(f.view.fall_backs() == 1);
}

TEST_CASE("an answer that nobody believes moves nothing") {
    const std::size_t upstreams = GENERATE(2U, 3U);
    Answers f(upstreams);
    for (std::size_t i = 0; i < upstreams; ++i) {
        f.head(i, 100);
    }
    f.answer(0, 900'100, "0xa");
    CHECK(f.number() == 100);
    CHECK(f.own(0) == 100);
    CHECK(f.view.standing(0) == Standing::current);
}

TEST_CASE("one of two does not lead the head away step by step") {
    Answers f(2);
    f.head(0, 1000);
    f.head(1, 1000);
    const bool by_answers = GENERATE(true, false);
    for (int step = 0; step < 200; ++step) {
        f.now += 100ms;
        const std::uint64_t next = f.number() + 60;
        if (by_answers) {
            f.answer(1, next);
        } else {
            f.head(1, next);
        }
        if (step % 20 == 0) {
            f.answer(0, 1001);
        }
    }
    CHECK(f.number() <= 1001 + 64);
    f.now += 12s;
    f.head(0, 1003);
    CHECK(f.view.standing(0) != Standing::unknown);
    CHECK(f.number() <= 1003 + 64);
}

TEST_CASE("one of two that stands still does not hold the other back") {
    Answers f(2);
    f.head(0, 1000);
    f.head(1, 1000);
    for (std::uint64_t block = 1001; block < 1500; ++block) {
        f.now += 12s;
        f.answer(1, block);
        REQUIRE(f.number() == block);
    }
    CHECK(f.view.standing(0) == Standing::lagging);
}

TEST_CASE("over random answers nobody alone moves the head beyond what is plausible") {
    std::mt19937_64 random(17);
    for (int round = 0; round < 300; ++round) {
        const std::size_t upstreams = 2 + random() % 3;
        Answers f(upstreams);
        std::uint64_t truth = 100'000;
        for (std::size_t i = 0; i < upstreams; ++i) {
            f.head(i, truth);
        }
        const std::size_t liar = random() % upstreams;
        std::uint64_t told = truth;  // the newest honest word
        for (int step = 0; step < 200; ++step) {
            f.now += std::chrono::milliseconds(random() % 2000);
            truth += random() % 8 == 0 ? 1 : 0;
            const std::size_t who = random() % upstreams;
            const std::string hash = random() % 2 == 0 ? "" : "0x" + std::to_string(step);
            if (who == liar) {
                const std::uint64_t far = random() % 2 == 0 ? random() % 128 : random() % 4'000'000;
                f.answer(who, f.number() + far, hash);
            } else if (random() % 3 == 0) {
                f.head(who, truth - random() % 2);
            } else {
                f.answer(who, truth - random() % 2, hash);
            }
            told = std::max(told, who == liar ? 0 : f.own(who));
            const std::uint64_t floor = truth - 3;
            CHECK(f.number() >= std::min(floor, told));
            CHECK(f.number() <= truth + (upstreams == 2 ? 64 : 0));
            CHECK((!f.view.head_block() || f.view.head_block()->number <= f.number()));
            CHECK((!f.view.head_block() || !f.view.head_block()->hash.empty()));
        }
    }
}
