#include "routing/score.hpp"

#include <algorithm>
#include <cmath>

namespace weir::routing {

double score(const ScoreInput& input, const ScoreWeights& weights) {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    double speed = 1;
    if (input.latency && input.best_latency) {
        const double best = Milliseconds(*input.best_latency).count();
        const double own = std::max(Milliseconds(*input.latency).count(), best);
        speed = (best + weights.slack_ms) / (own + weights.slack_ms);
    }
    const auto behind = static_cast<double>(std::min<std::uint64_t>(input.lag_blocks, 64));
    const double product = std::pow(input.success, weights.success) * speed *
                           (1 - input.throttled * weights.throttled) *
                           std::pow(weights.lag, behind);
    return std::clamp(product, weights.least, 1.0);
}

double success_share(double good, double bad, const ScoreWeights& weights) {
    return (good + weights.good_will) / (good + bad + weights.good_will);
}

double preference(double score, const ScoreWeights& weights) {
    return std::pow(score, weights.preference);
}

double draw_weight(double weight, double score, bool trickle, const ScoreWeights& weights) {
    return weight * score * (trickle ? weights.trickle : 1);
}

double chance_of_better(double first, double second, const ScoreWeights& weights) {
    const double a = preference(first, weights);
    const double b = preference(second, weights);
    return b > a ? (b - a) / (a + b) : 0;
}

}  // namespace weir::routing
