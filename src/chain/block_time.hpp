// How long a chain takes for a block: as configured, or learned from its blocks' timestamps. Pure.
#pragma once

#include "chain/observation.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <optional>

namespace weir::chain {

class BlockTime {
  public:
    explicit BlockTime(std::optional<core::Duration> hint) : hint_(hint) {}

    // Heads, in the order in which they were believed.
    void learn(const Observation& head);
    // The next head does not follow from those before it.
    void forget_last() { anchor_.reset(); }

    // The hint, what was learned, or 12 s.
    core::Duration get() const;
    bool is_known() const { return hint_ || learned_; }

  private:
    struct Anchor {
        std::uint64_t number = 0;
        std::uint64_t timestamp = 0;
    };
    std::optional<core::Duration> hint_;
    std::optional<core::Duration> learned_;
    std::optional<Anchor> anchor_;
};

}  // namespace weir::chain
