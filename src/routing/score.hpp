// How good an upstream is, as one number: success, speed, throttling, lag.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <optional>

namespace weir::routing {

// What the score rests on; what is not known yet counts neither way.
struct ScoreInput {
    double success = 1;                          // share of attempts without upstream's fault
    double throttled = 0;                        // share of attempts that met a rate limit
    std::optional<core::Duration> latency;       // mean of answers of the time class
    std::optional<core::Duration> best_latency;  // the lowest such mean among the chain's upstreams
    std::uint64_t lag_blocks = 0;
};

// From kLeastScore to 1: the product of
//   success:    the share, squared: one failure in ten costs a fifth
//   speed:      (best + slack) / (own + slack): relative to the best of the pool; differences
//               below the slack hardly count
//   throttling: 1 - half the throttled share
//   lag:        kLagFactor per block behind
double score(const ScoreInput& input);

constexpr double kLeastScore = 0.01;
constexpr double kLagFactor = 0.8;
constexpr core::Duration kLatencySlack = std::chrono::milliseconds(20);

// The chance of a candidate against another one is in proportion to this: the square of the score.
constexpr double preference(double score) { return score * score; }

// The part of its weight that a new or recovering upstream gets.
constexpr double kTrickleShare = 0.1;

}  // namespace weir::routing
