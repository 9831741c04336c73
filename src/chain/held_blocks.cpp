#include "chain/held_blocks.hpp"

#include <algorithm>

namespace weir::chain {

HeldBlocks::Entry* HeldBlocks::find(std::size_t upstream, const BlockId& block) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.upstream == upstream && entry.block == block;
    });
    return found == entries_.end() ? nullptr : &*found;
}

void HeldBlocks::note(std::size_t upstream, const BlockId& block, core::TimePoint until,
                      core::TimePoint now) {
    if (Entry* const known = find(upstream, block)) {
        known->until = std::max(known->until, until);
        return;
    }
    if (entries_.size() == kMost) {
        std::erase_if(entries_, [now](const Entry& entry) { return entry.until <= now; });
    }
    if (entries_.size() == kMost) {
        entries_.erase(
            std::min_element(entries_.begin(), entries_.end(),
                             [](const Entry& a, const Entry& b) { return a.until < b.until; }));
    }
    entries_.push_back({upstream, block, until});
}

void HeldBlocks::forget(std::size_t upstream, const BlockId& block) {
    std::erase_if(entries_, [&](const Entry& entry) {
        return entry.upstream == upstream && entry.block == block;
    });
}

bool HeldBlocks::has(std::size_t upstream, const BlockId& block, core::TimePoint now) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.upstream == upstream && entry.until > now && entry.block == block;
    });
}

}  // namespace weir::chain
