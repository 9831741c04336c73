#include "routing/batch_plan.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <random>
#include <vector>

using namespace weir::routing;

namespace {

RoutingSnapshot pool_of(std::size_t upstreams) {
    RoutingSnapshot pool;
    pool.upstreams.resize(upstreams);
    for (UpstreamView& upstream : pool.upstreams) {
        upstream.state = UpstreamState::fit;
        upstream.identified = true;
    }
    return pool;
}

BatchKind calls(std::size_t count, unsigned long long fit) {
    BatchKind kind{.fit = Tried(fit), .places = {}};
    for (std::size_t i = 0; i < count; ++i) {
        kind.places.push_back(i);
    }
    return kind;
}

}  // namespace

TEST_CASE("whatever the batch and the pool: each call once, no group over a limit") {
    std::mt19937_64 random(7);
    const auto below = [&](std::size_t bound) { return random() % bound; };
    for (int round = 0; round < 20'000; ++round) {
        RoutingSnapshot pool = pool_of(1 + below(6));
        std::vector<BatchRoom> rooms(pool.upstreams.size());
        for (std::size_t i = 0; i < rooms.size(); ++i) {
            pool.upstreams[i].weight = 0.1 + static_cast<double>(below(50)) / 10;
            pool.upstreams[i].score = 0.01 + static_cast<double>(below(100)) / 101;
            pool.upstreams[i].trickle = below(5) == 0;
            rooms[i] = {.most = below(4) == 0 ? below(3) : below(120),
                        .calls = below(3) == 0 ? below(20) : 100'000,
                        .messages = below(4)};
        }
        std::vector<BatchKind> kinds(below(4));
        std::size_t place = 0;
        for (BatchKind& kind : kinds) {
            kind.fit = Tried(below(64));
            for (std::size_t i = below(300); i > 0; --i) {
                kind.places.push_back(place++);
            }
        }
        const BatchPlan plan = plan_batch(pool, kinds, rooms, random());
        std::vector<unsigned> seen(place);
        std::vector<std::size_t> sent(rooms.size());
        bool good = true;
        for (const BatchGroup& group : plan.groups) {
            good = good && group.upstream < rooms.size() && group.places.size() >= 2 &&
                   group.places.size() <= rooms[group.upstream].most &&
                   rooms[group.upstream].messages > 0;
            sent[group.upstream] += group.places.size();
            for (const std::size_t each : group.places) {
                ++seen[each];
                const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) {
                    return std::find(k.places.begin(), k.places.end(), each) != k.places.end();
                });
                good = good && kind->fit.test(group.upstream);
            }
        }
        for (const std::size_t each : plan.alone) {
            ++seen[each];
        }
        for (const BatchKind& kind : plan.waiting) {
            good = good && kind.fit.any() && kind.places.size() >= 2;
            for (const std::size_t each : kind.places) {
                ++seen[each];
            }
            for (std::size_t i = 0; i < rooms.size(); ++i) {
                good = good && (!kind.fit.test(i) || (rooms[i].messages == 0 && rooms[i].most > 1));
            }
        }
        for (std::size_t i = 0; i < rooms.size(); ++i) {
            good = good && sent[i] <= rooms[i].calls;
        }
        good = good && std::all_of(seen.begin(), seen.end(), [](unsigned n) { return n == 1; });
        REQUIRE(good);
    }
}

TEST_CASE("what one upstream takes goes to one; more is cut large and spread where need be") {
    const RoutingSnapshot pool = pool_of(3);
    const auto plan = [&](std::size_t count, std::vector<BatchRoom> rooms) {
        return plan_batch(pool, std::vector{calls(count, 7)}, std::move(rooms), 5);
    };
    CHECK(plan(20, {{3, 999, 9}, {10, 999, 9}, {100, 999, 9}}).groups.size() == 1);
    CHECK(plan(1, {{3, 999, 9}, {10, 999, 9}, {100, 999, 9}}).alone.size() == 1);
    CHECK(plan(500, {{3, 999, 9}, {10, 999, 9}, {100, 999, 9}}).groups.size() <= 12);
    const BatchPlan no_arrays = plan(20, {{1, 999, 9}, {0, 999, 9}, {0, 0, 0}});
    CHECK(no_arrays.groups.empty());
    CHECK(no_arrays.alone.size() == 20);
    const BatchPlan no_place = plan(20, {{1, 999, 9}, {0, 0, 0}, {100, 999, 0}});
    CHECK(no_place.groups.empty());
    CHECK(no_place.alone.empty());
    REQUIRE(no_place.waiting.size() == 1);
    CHECK(no_place.waiting[0].fit == Tried(4));
    CHECK(no_place.waiting[0].places.size() == 20);
    CHECK(plan(1, {{100, 999, 0}, {100, 999, 0}, {100, 999, 0}}).alone.size() == 1);
    // Neither has budget for all; both together have.
    const BatchPlan both = plan(100, {{100, 50, 9}, {100, 50, 9}, {0, 0, 0}});
    CHECK(both.groups.size() == 2);
    CHECK(both.alone.empty());
    const BatchPlan short_of = plan(100, {{100, 30, 9}, {100, 50, 9}, {0, 0, 0}});
    CHECK(short_of.alone.size() == 20);
}
