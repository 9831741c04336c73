// What holds for the chain view whatever upstreams say, in whatever order.
#include "unit/chain/view_fixture.hpp"

#include <random>
#include <set>

using namespace weir::chain;
using namespace weir::test;
using namespace std::chrono_literals;

TEST_CASE("over random observations the head is somebody's, and two of three carry it") {
    std::mt19937_64 random(7);
    for (int round = 0; round < 200; ++round) {
        ViewFixture f(3);
        std::uint64_t truth = 1000;
        for (std::size_t i = 0; i < 3; ++i) {
            f.head(i, truth);
        }
        for (int step = 0; step < 100; ++step) {
            f.now += 12s;
            ++truth;
            // Two are honest within two blocks; the third says anything.
            f.head(0, truth - random() % 3);
            f.head(1, truth - random() % 3);
            f.head(2, random() % (3 * truth));
            CHECK(f.number() >= truth - 4);
            CHECK(f.number() <= truth);
            CHECK(f.view.standing(0) == Standing::current);
            CHECK(f.view.standing(1) == Standing::current);
        }
    }
}

TEST_CASE("over random streams no minority of one moves the head, whatever the order of speaking") {
    std::mt19937_64 random(11);
    for (int round = 0; round < 300; ++round) {
        const std::size_t upstreams = 3 + random() % 3;
        const std::size_t liar = random() % upstreams;
        ViewFixture f(upstreams);
        std::uint64_t truth = 100'000;
        std::set<std::size_t> spoken;
        std::set<std::size_t> ill;
        for (int step = 0; step < 60; ++step) {
            f.now += std::chrono::milliseconds(random() % 4000);
            truth += random() % 3 == 0 ? 1 : 0;
            const std::size_t who = random() % upstreams;
            if (random() % 10 == 0) {
                const bool counts = random() % 3 != 0;
                f.view.set_counted(who, counts, f.now);
                if (!counts) {
                    ill.insert(who);
                } else {
                    ill.erase(who);
                }
                spoken.clear();  // who counts is another set now
                continue;
            }
            f.head(who, who == liar ? truth + random() % 2'000'000 : truth - random() % 2);
            if (who != liar && !ill.contains(who)) {
                spoken.insert(who);
            }
            if (spoken.size() >= 2) {
                CHECK(f.number() <= truth);
                CHECK(f.number() + 30 >= truth);
            }
        }
    }
}

TEST_CASE("over random streams liars that take turns move nobody") {
    std::mt19937_64 random(19);
    for (int round = 0; round < 300; ++round) {
        const std::size_t upstreams = 4 + random() % 3;
        ViewFixture f(upstreams);
        std::uint64_t truth = 100'000;
        std::size_t liar = random() % upstreams;
        std::set<std::size_t> silent;  // those that lied, and went on to other faults
        for (std::size_t who = 0; who < upstreams; ++who) {
            f.head(who, truth);
        }
        for (int step = 0; step < 80; ++step) {
            f.now += std::chrono::milliseconds(random() % 2000);
            truth += random() % 3 == 0 ? 1 : 0;
            const std::size_t who = random() % upstreams;
            if (who == liar) {
                f.head(who, truth + 1000 + random() % 2'000'000);
                if (random() % 4 == 0) {
                    f.view.observe_silence(who, f.now);
                    silent.insert(who);
                    liar = random() % upstreams;
                    silent.erase(liar);
                }
            } else if (!silent.contains(who)) {
                f.head(who, truth);
            } else if (random() % 20 == 0 && silent.size() > 1) {
                silent.erase(who);
                f.head(who, truth);
            }
            CHECK(f.number() <= truth);
        }
    }
}

TEST_CASE("over random streams of clusters that step back nothing told of the head is taken back") {
    std::mt19937_64 random(29);
    for (int round = 0; round < 300; ++round) {
        const std::size_t upstreams = 2 + random() % 3;
        const weir::core::Duration block_time = random() % 2 == 0 ? 12s : 1s;
        ViewFixture f(upstreams, block_time);
        const weir::core::TimePoint began = f.now;
        const std::uint64_t noise = 1 + random() % Evidence::kNoise;
        for (int step = 0; step < 200; ++step) {
            f.now +=
                weir::core::Duration(random() % static_cast<std::uint64_t>(block_time.count()) / 2);
            const auto grown = static_cast<std::uint64_t>((f.now - began) / block_time);
            f.head(random() % upstreams, 1000 + grown - random() % (noise + 1));
            f.view.refresh(f.now);
            CHECK(f.view.fall_backs() == 0);
            CHECK(f.number() + Evidence::kNoise >= 1000 + grown - noise);
        }
    }
}

TEST_CASE("over random streams the view keeps its own rules") {
    std::mt19937_64 random(13);
    for (int round = 0; round < 300; ++round) {
        const std::size_t upstreams = 1 + random() % 5;
        ViewFixture f(upstreams, random() % 2 == 0 ? 12s : 250ms);
        std::uint64_t fall_backs = 0;
        for (int step = 0; step < 80; ++step) {
            f.now += std::chrono::milliseconds(random() % 20'000);
            const std::size_t who = random() % upstreams;
            const std::uint64_t before = f.number();
            const std::uint64_t fell_before = fall_backs;
            const bool carried = f.view.is_corroborated();
            switch (random() % 6) {
                case 0:
                    f.view.set_counted(who, random() % 2 == 0, f.now);
                    break;
                case 1:
                    f.view.observe_chain_id(who, random() % 4 == 0 ? 2 : 1, f.now);
                    break;
                case 2:
                    f.view.refresh(f.now);
                    break;
                default:
                    f.head(who, random() % 3 == 0 ? random() % 1'000'000 : 1000 + random() % 100,
                           random() % 5 == 0 ? "x" : "");
            }
            CHECK(f.view.fall_backs() >= fall_backs);
            fall_backs = f.view.fall_backs();
            if (f.view.head()) {
                CHECK(f.view.highest_plausible(f.now) >= f.number());
                // A head that two reached goes back by noise, or by a fall-back.
                CHECK((f.number() + Evidence::kNoise >= before || !carried ||
                       fall_backs > fell_before));
                CHECK((upstreams > 1 || f.number() >= before || fall_backs > fell_before));
            }
            CHECK(f.view.evidence().kept().size() <= Evidence::kKept);
            for (std::size_t i = 0; i < upstreams; ++i) {
                if (!f.view.latest(i)) {
                    CHECK(f.view.standing(i) == Standing::unknown);
                } else if (upstreams == 1) {
                    CHECK(f.view.standing(i) == Standing::current);
                } else if (f.view.standing(i) == Standing::lagging) {
                    CHECK(f.view.lag(i) > f.view.tolerated_lag());
                }
            }
        }
    }
}
