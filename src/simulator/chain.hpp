// A made-up chain that several simulated providers show: blocks that come with time, hashes that
// agree, and forks on demand.
#pragma once

#include "core/time.hpp"
#include "runtime/ports.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::simulator {

// From `from` on, blocks are those of fork `id`: other hashes than without it.
struct Fork {
    std::uint64_t from = 0;
    std::uint64_t id = 0;
};

struct Block {
    std::uint64_t number = 0;
    std::string hash;    // 0x and 64 digits
    std::string parent;  // likewise
    std::uint64_t timestamp = 0;
};

// Nothing is stored but the rules: any block up to the head can be made from its number or its
// hash. Any thread.
class SimulatedChain {
  public:
    struct Settings {
        std::uint64_t seed = 1;  // chains of different seeds have different hashes
        std::uint64_t first_head = 1000;
        core::Duration block_time = core::seconds(12);  // zero: only mine() makes blocks
    };

    SimulatedChain(const Settings& settings, const runtime::Clock& clock);

    std::uint64_t head() const;
    void mine(std::uint64_t blocks);
    void rewind(std::uint64_t blocks);    // the head falls back, as a reset node's does
    void reorganize(std::uint64_t from);  // blocks from `from` on get new hashes

    // The block as seen by a provider on a fork of its own.
    Block block(std::uint64_t number, const std::optional<Fork>& fork = std::nullopt) const;
    // The block of that hash up to the head; nothing when there is none.
    std::optional<Block> find(std::string_view hash,
                              const std::optional<Fork>& fork = std::nullopt) const;

  private:
    std::uint64_t head_locked() const;
    std::string hash_locked(std::uint64_t number, const std::optional<Fork>& fork) const;

    const Settings settings_;
    const runtime::Clock& clock_;
    const core::TimePoint start_;
    const std::uint64_t start_timestamp_;

    mutable std::mutex mutex_;  // guards what follows
    std::int64_t mined_ = 0;    // beyond what time has made; negative after a rewind
    std::vector<Fork> forks_;   // in the order in which they came
};

}  // namespace weir::simulator
