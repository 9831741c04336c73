#include "probe/depth_search.hpp"

#include "jsonrpc/value.hpp"

#include <algorithm>
#include <array>

namespace weir::probe {
namespace {

// A little less than where nodes prune, because the head moves on while they are asked: geth at
// 128, Erigon at 100'000, others at 10'064 or 1024.
constexpr std::array<std::uint64_t, 8> kRungs = {1, 16, 60, 120, 1'000, 10'000, 90'000, 1'000'000};

}  // namespace

std::optional<std::uint64_t> DepthSearch::next() const {
    if (ended_ || tries_ == kMostTries || head_ < 2) {
        return std::nullopt;
    }
    if (!finding_.lacks) {
        return finding_.has ? std::nullopt : std::optional(head_ - 1);
    }
    const std::uint64_t low = finding_.has.value_or(0);
    const std::uint64_t high = *finding_.lacks;
    const auto* const first = std::upper_bound(kRungs.begin(), kRungs.end(), low);
    const auto* const last = std::lower_bound(kRungs.begin(), kRungs.end(), high);
    if (first < last) {
        return *(first + (last - first) / 2);
    }
    // Between two rungs a factor of two is near enough.
    return low != 0 && high / low >= 4 ? std::optional(low * 2) : std::nullopt;
}

void DepthSearch::hear(std::uint64_t depth, const Heard& heard) {
    ++tries_;
    if (heard.answered() && jsonrpc::is_string(heard.result)) {
        finding_.has = std::max(finding_.has.value_or(0), depth);
    } else if (is_passing(heard.cause)) {
        finding_.trouble = heard.words;
        ended_ = true;
    } else {
        finding_.lacks = std::min(finding_.lacks.value_or(depth), depth);
    }
}

}  // namespace weir::probe
