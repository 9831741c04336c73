// How far back the state reaches that an upstream keeps: configured, or learned from its refusals.
#pragma once

#include "config/config.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <optional>

namespace weir::routing {

class StateReach {
  public:
    // A node may be given its archive later.
    static constexpr core::Duration kExpiry = std::chrono::hours(1);

    explicit StateReach(const config::History& history);

    // It refused, or served, the state `depth` blocks below the head.
    void refuse(std::uint64_t depth, core::TimePoint now);
    void serve(std::uint64_t depth);
    void expire(core::TimePoint now);

    // The number of recent blocks whose state it keeps; nothing: no end is known.
    std::optional<std::uint64_t> blocks() const { return configured_ ? configured_ : learned_; }

  private:
    bool fixed_ = false;
    std::optional<std::uint64_t> configured_;
    std::optional<std::uint64_t> learned_;
    core::TimePoint until_{};
};

}  // namespace weir::routing
