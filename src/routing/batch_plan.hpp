// A client's batch cut into arrays for upstreams. Pure: the snapshot, what each upstream has room
// for and a random number in.
#pragma once

#include "routing/select.hpp"
#include "routing/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::routing {

// What an upstream may be sent now.
struct BatchRoom {
    std::size_t most = 0;      // calls in one array; below 2: no arrays
    std::size_t calls = 0;     // by its budget, in all
    std::size_t messages = 0;  // by its in-flight cap, side by side; 0: once a place is free
};

// Calls that the same upstreams are fit for, by their places in the batch.
struct BatchKind {
    Tried fit;
    std::vector<std::size_t> places;
};

// One array: two calls or more.
struct BatchGroup {
    UpstreamIndex upstream = 0;
    std::vector<std::size_t> places;
};

struct BatchPlan {
    std::vector<BatchGroup> groups;
    std::vector<BatchKind> waiting;  // for a place in flight at one of these upstreams; two or more
    std::vector<std::size_t> alone;  // places of calls that no array has room for
};

// Each call once. What one upstream takes in one array goes to one; else arrays are as large as
// they may be, over several upstreams where one has no room for all. Of those that will do, one is
// drawn by weight and score.
BatchPlan plan_batch(const RoutingSnapshot& pool, std::span<const BatchKind> kinds,
                     std::vector<BatchRoom> rooms, std::uint64_t seed);

}  // namespace weir::routing
