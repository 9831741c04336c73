// What pinned requests of one chain have learned for those that come after them. Any thread.
#pragma once

#include "chain/held_blocks.hpp"
#include "proxy/pinned_floor.hpp"
#include "routing/hash_reads.hpp"

#include <mutex>

namespace weir::proxy {

class SnapshotMemory {
  public:
    explicit SnapshotMemory(PinnedFloor& newest) : floor(newest) {}

    // An upstream was seen to have the block, `depth` blocks below the head: old blocks stay.
    void note_held(routing::UpstreamIndex upstream, const chain::BlockId& block,
                   std::uint64_t depth, core::TimePoint now) {
        constexpr std::uint64_t kSettled = 64;
        const core::Duration kept =
            depth >= kSettled ? core::Duration(std::chrono::minutes(10)) : std::chrono::seconds(1);
        const std::lock_guard lock(mutex_);
        held_.note(upstream, block, now + kept, now);
    }
    void forget(routing::UpstreamIndex upstream, const chain::BlockId& block) {
        const std::lock_guard lock(mutex_);
        held_.forget(upstream, block);
    }
    bool has(routing::UpstreamIndex upstream, const chain::BlockId& block,
             core::TimePoint now) const {
        const std::lock_guard lock(mutex_);
        return held_.has(upstream, block, now);
    }

    // `use` gets routing::HashReads.
    template <class Use>
    auto hash_reads(Use use) {
        const std::lock_guard lock(mutex_);
        return use(hash_reads_);
    }

    PinnedFloor& floor;

  private:
    mutable std::mutex mutex_;
    chain::HeldBlocks held_;
    routing::HashReads hash_reads_;
};

}  // namespace weir::proxy
