// Which upstream was seen to have which block on its chain, lately. Bounded; what was seen expires.
// Not synchronized; time is a parameter.
#pragma once

#include "chain/observation.hpp"
#include "core/time.hpp"

#include <cstddef>
#include <vector>

namespace weir::chain {

class HeldBlocks {
  public:
    static constexpr std::size_t kMost = 1024;

    void note(std::size_t upstream, const BlockId& block, core::TimePoint until,
              core::TimePoint now);
    void forget(std::size_t upstream, const BlockId& block);
    bool has(std::size_t upstream, const BlockId& block, core::TimePoint now) const;

    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        std::size_t upstream;
        BlockId block;
        core::TimePoint until;
    };
    Entry* find(std::size_t upstream, const BlockId& block);

    std::vector<Entry> entries_;
};

}  // namespace weir::chain
