#include "routing/state_reach.hpp"

#include "support/catch.hpp"

using namespace weir::routing;
using namespace std::chrono_literals;
using weir::config::History;
using weir::core::TimePoint;

TEST_CASE("how far back state reaches is learned from refusals and unlearned by answers or time") {
    const TimePoint now{1h};
    StateReach reach{History{}};
    CHECK_FALSE(reach.blocks().has_value());
    reach.refuse(500, now);
    reach.refuse(900, now);
    CHECK(reach.blocks() == 500U);
    reach.refuse(128, now);
    CHECK(reach.blocks() == 128U);
    reach.serve(127);
    CHECK(reach.blocks() == 128U);
    reach.serve(200);
    CHECK_FALSE(reach.blocks().has_value());
    reach.refuse(128, now);
    reach.expire(now + StateReach::kExpiry - 1s);
    CHECK(reach.blocks() == 128U);
    reach.expire(now + StateReach::kExpiry);
    CHECK_FALSE(reach.blocks().has_value());
}

TEST_CASE("what an operator says of an upstream's history stands") {
    StateReach pruned{History{.kind = History::Kind::blocks, .blocks = 128}};
    pruned.refuse(64, TimePoint{1h});
    pruned.serve(1000);
    CHECK(pruned.blocks() == 128U);
    StateReach archive{History{.kind = History::Kind::archive}};
    archive.refuse(64, TimePoint{1h});
    CHECK_FALSE(archive.blocks().has_value());
}
