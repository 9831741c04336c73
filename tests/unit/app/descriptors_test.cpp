// How descriptors are shared out between clients, upstreams and the program itself.
#include "app/descriptors.hpp"

#include "support/catch.hpp"

using namespace weir;
using app::DescriptorShares;

namespace {

config::Config wanted(std::size_t connections, std::size_t upstreams, std::size_t in_flight) {
    config::Config config;
    config.server.max_connections = connections;
    config::Chain chain;
    for (std::size_t i = 0; i < upstreams; ++i) {
        config::Upstream upstream;
        upstream.max_in_flight = in_flight;
        chain.upstreams.push_back(upstream);
    }
    config.chains.push_back(chain);
    return config;
}

}  // namespace

TEST_CASE("clients get what they may have, or what upstreams and the program leave") {
    struct Row {
        std::size_t limit;
        std::size_t in_use;
        std::size_t connections;  // wanted
        std::size_t upstreams;
        std::size_t in_flight;  // of each
        std::size_t clients;    // that there is room for
        std::size_t turned_away;
    };
    const Row rows[] = {
        // Plenty.
        {1048576, 40, 10000, 3, 256, 10000, 64},
        {65536, 40, 10000, 100, 1000, 10000, 64},
        {20000, 40, 10000, 3, 256, 10000, 64},
        // More than there are: upstreams get what they may have in flight.
        {8192, 40, 10000, 2, 256, 7320, 64},
        // ... and never more than half.
        {8192, 40, 10000, 100, 1000, 3916, 64},
        {1024, 40, 10000, 2, 256, 432, 57},
        {1024, 40, 100, 2, 256, 100, 57},
        // Hardly any: somebody is served still.
        {64, 20, 10000, 2, 256, 19, 2},
        {40, 20, 10000, 2, 256, 9, 1},
        {24, 20, 10000, 2, 256, 1, 1},
        {20, 20, 10000, 2, 256, 1, 1},
        {0, 20, 10000, 2, 256, 1, 1},
    };
    for (const Row& row : rows) {
        CAPTURE(row.limit, row.in_use, row.connections, row.upstreams);
        const config::Config config = wanted(row.connections, row.upstreams, row.in_flight);
        const DescriptorShares shares = app::share_descriptors(row.limit, row.in_use, config);
        CHECK(shares.clients == row.clients);
        CHECK(shares.turned_away == row.turned_away);
        CHECK(shares.own == app::own_descriptors(row.limit));
    }
}

TEST_CASE("whatever the limit, the shares together are no more than it") {
    for (std::size_t limit = 40; limit < 40000; limit += 37) {
        for (const std::size_t in_flight : {1U, 64U, 100000U}) {
            const config::Config config = wanted(10000, 3, in_flight);
            const DescriptorShares shares = app::share_descriptors(limit, 30, config);
            CAPTURE(limit, in_flight, shares.clients, shares.turned_away, shares.own);
            const std::size_t together = 30 + shares.clients + shares.turned_away + shares.own;
            CHECK(together < limit);  // one at least for an upstream
            CHECK(shares.clients >= 1);
        }
    }
}

TEST_CASE("the program keeps a few for itself") {
    CHECK(app::own_descriptors(20) == 2);
    CHECK(app::own_descriptors(1024) == 64);
    CHECK(app::own_descriptors(1048576) == 256);
}
