// How many recent blocks' state an endpoint keeps, found with few questions. Pure.
#pragma once

#include "probe/examination.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace weir::probe {

struct DepthFinding {
    // Blocks behind the head; nothing: not even one was asked, or none was answered.
    std::optional<std::uint64_t> has;    // the deepest state that was given
    std::optional<std::uint64_t> lacks;  // the least deep that was not
    std::string trouble;                 // why the search ended early

    // Back to the first block after the genesis block.
    bool reaches(std::uint64_t head) const { return has && head > 0 && *has >= head - 1; }
};

// Asks for the oldest state first, then halves among depths at which nodes are known to prune.
class DepthSearch {
  public:
    static constexpr unsigned kMostTries = 8;

    explicit DepthSearch(std::uint64_t head) : head_(head) {}

    // How far behind the head to ask for state; nothing: it has ended.
    std::optional<std::uint64_t> next() const;
    void hear(std::uint64_t depth, const Heard& heard);
    const DepthFinding& finding() const { return finding_; }

  private:
    std::uint64_t head_;
    DepthFinding finding_;
    unsigned tries_ = 0;
    bool ended_ = false;
};

}  // namespace weir::probe
