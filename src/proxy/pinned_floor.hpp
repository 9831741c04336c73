// The newest block that a pinned `latest` stood for: the next one is never older, unless the chain
// itself fell back. One per chain; any thread.
#pragma once

#include "chain/observation.hpp"

#include <cstdint>
#include <mutex>
#include <optional>

namespace weir::proxy {

class PinnedFloor {
  public:
    // `fall_backs` counts the chain's own (RoutingSnapshot::fall_backs): what was given out before
    // the latest of them does not bind.
    std::optional<chain::BlockId> block(std::uint64_t fall_backs) const {
        const std::lock_guard lock(mutex_);
        return fall_backs == fall_backs_ ? block_ : std::nullopt;
    }
    void raise(const chain::BlockId& block, std::uint64_t fall_backs) {
        const std::lock_guard lock(mutex_);
        if (fall_backs > fall_backs_ ||
            (fall_backs == fall_backs_ && (!block_ || block.number >= block_->number))) {
            block_ = block;
            fall_backs_ = fall_backs;
        }
    }

  private:
    mutable std::mutex mutex_;
    std::optional<chain::BlockId> block_;
    std::uint64_t fall_backs_ = 0;
};

}  // namespace weir::proxy
