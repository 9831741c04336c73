#include "probe/batch_search.hpp"

#include <algorithm>
#include <array>

namespace weir::probe {
namespace {

using routing::Cause;

constexpr std::array<std::size_t, 3> kClimb = {2, 10, BatchSearch::kMost};
// Limits that providers are known to set.
constexpr std::array<std::size_t, 8> kRound = {2, 3, 5, 10, 20, 25, 50, 100};

// The middle one of the round sizes strictly between; nothing where there is none.
std::optional<std::size_t> round_between(std::size_t low, std::size_t high) {
    const auto* const first = std::upper_bound(kRound.begin(), kRound.end(), low);
    const auto* const last = std::lower_bound(kRound.begin(), kRound.end(), high);
    return first < last ? std::optional(*(first + (last - first) / 2)) : std::nullopt;
}

}  // namespace

std::optional<std::size_t> BatchSearch::next() const {
    if (ended_ || tries_ == kMostTries || finding_.is_exact()) {
        return std::nullopt;
    }
    const std::size_t low = finding_.taken;
    if (!finding_.refused) {
        const auto* const up = std::upper_bound(kClimb.begin(), kClimb.end(), low);
        return up == kClimb.end() ? std::nullopt : std::optional(*up);
    }
    const std::size_t high = *finding_.refused;
    if (named_ && *named_ > low && *named_ < high) {
        return named_;
    }
    if (const auto round = round_between(low, high)) {
        return round;
    }
    // No round size is left: most likely the one that was taken is the limit.
    return low + 1;
}

void BatchSearch::hear(std::size_t size, const Heard& heard) {
    ++tries_;
    if (heard.answered()) {
        finding_.taken = std::max(finding_.taken, size);
        ended_ = named_ && *named_ == size;
        if (ended_) {
            finding_.refused = size + 1;  // the endpoint's own word
        }
    } else if (heard.cause == Cause::rate_limited) {
        finding_.limited = true;
        ended_ = true;
    } else if (is_passing(heard.cause)) {
        finding_.trouble = heard.words;
        ended_ = true;
    } else {  // single calls are answered, so whatever it says is about the array
        finding_.refused = size;
        named_ = heard.named ? heard.named : named_;
    }
}

}  // namespace weir::probe
