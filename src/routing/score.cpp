#include "routing/score.hpp"

#include <algorithm>
#include <cmath>

namespace weir::routing {

double score(const ScoreInput& input) {
    using Seconds = std::chrono::duration<double>;
    double speed = 1;
    if (input.latency && input.best_latency) {
        speed = Seconds(*input.best_latency + kLatencySlack) /
                Seconds(std::max(*input.latency, *input.best_latency) + kLatencySlack);
    }
    const double lag =
        std::pow(kLagFactor, static_cast<double>(std::min<std::uint64_t>(input.lag_blocks, 64)));
    const double product = input.success * input.success * speed * (1 - input.throttled / 2) * lag;
    return std::clamp(product, kLeastScore, 1.0);
}

}  // namespace weir::routing
