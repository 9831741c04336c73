// How many calls an endpoint takes in one array, found with few arrays. Pure.
#pragma once

#include "probe/examination.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace weir::probe {

struct BatchFinding {
    std::size_t taken = 1;               // the largest array that was answered; 1: none was
    std::optional<std::size_t> refused;  // the smallest that was refused for its size
    bool limited = false;                // larger ones ran into the rate limit
    std::string trouble;                 // why the search ended early otherwise

    // Arrays of more than `taken` are refused, and that is certain.
    bool is_exact() const { return refused && *refused == taken + 1; }
};

// Climbs through sizes that providers like (2, 10, 100) until one is refused, then halves.
class BatchSearch {
  public:
    static constexpr std::size_t kMost = 100;  // weir sends no more unless it is told to
    static constexpr unsigned kMostTries = 9;

    std::optional<std::size_t> next() const;  // the size to try; nothing: it has ended
    void hear(std::size_t size, const Heard& heard);
    const BatchFinding& finding() const { return finding_; }

  private:
    BatchFinding finding_;
    std::optional<std::size_t> named_;
    unsigned tries_ = 0;
    bool ended_ = false;
};

}  // namespace weir::probe
