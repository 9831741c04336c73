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

// What the choice between upstreams weighs; each with the scenario that set it
// (tests/unit/routing/score_scenarios_test.cpp).
struct ScoreWeights {
    double success = 2;  // exponent: who fails one call in ten gets two in five beside a sound one
    double good_will = 5;  // successes assumed: the first failure is not taken for a habit
    double slack_ms = 20;  // of latency: differences below it hardly count
    double throttled =
        0.5;              // of the throttled share: near its limit it gets less before it refuses
    double lag = 0.8;     // for each block behind
    double least = 0.01;  // who always fails is tried once in twenty thousand calls
    double preference =
        1.3;  // exponent of the score between two: ten times slower leaves one in thirty
    double trickle = 0.1;  // of the weight, for who is new or recovers
};
constexpr ScoreWeights kScoreWeights;

// From `least` to 1: the product of
//   success:    the share to the power of `success`
//   speed:      (best + slack) / (own + slack), relative to the best of the pool
//   throttling: 1 - `throttled` times the throttled share
//   lag:        `lag` to the power of the blocks behind
double score(const ScoreInput& input, const ScoreWeights& weights = kScoreWeights);

// Of attempts that ended well or by the upstream's fault.
double success_share(double good, double bad, const ScoreWeights& weights = kScoreWeights);

// The chance of a candidate against another one is in proportion to this.
double preference(double score, const ScoreWeights& weights = kScoreWeights);

// In proportion to this an upstream is drawn as a candidate.
double draw_weight(double weight, double score, bool trickle,
                   const ScoreWeights& weights = kScoreWeights);

// The chance that the second of two that were drawn takes the place of the first: only a
// better one does.
double chance_of_better(double first, double second, const ScoreWeights& weights = kScoreWeights);

}  // namespace weir::routing
