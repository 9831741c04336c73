#include "chain/block_time.hpp"

#include <algorithm>

namespace weir::chain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr core::Duration kUsual = seconds(12);
constexpr core::Duration kShortest = milliseconds(100);
constexpr core::Duration kLongest = seconds(60);

// Block timestamps are whole seconds: a rate is read from at least so much.
constexpr std::uint64_t kLearnSeconds = 10;
constexpr std::uint64_t kLearnBlocks = 32;

}  // namespace

core::Duration BlockTime::get() const {
    return hint_ ? std::max(*hint_, kShortest) : learned_.value_or(kUsual);
}

void BlockTime::learn(const Observation& head) {
    const Anchor here{head.latest.number, head.timestamp};
    if (here.timestamp == 0) {
        return;
    }
    if (!anchor_ || here.timestamp < anchor_->timestamp || here.number <= anchor_->number) {
        anchor_ = here;
        return;
    }
    const std::uint64_t took = here.timestamp - anchor_->timestamp;
    const std::uint64_t blocks = here.number - anchor_->number;
    if (took < kLearnSeconds && blocks < kLearnBlocks) {
        return;
    }
    // A clock that was moved by hand must not overflow the count of nanoseconds.
    const std::uint64_t bounded = std::min<std::uint64_t>(took, 1'000'000);
    const core::Duration sample =
        std::clamp(core::Duration(seconds(bounded)) /
                       static_cast<std::int64_t>(std::min<std::uint64_t>(blocks, 1'000'000'000)),
                   kShortest, kLongest);
    learned_ = learned_ ? (*learned_ * 7 + sample * 3) / 10 : sample;
    anchor_ = here;
}

}  // namespace weir::chain
