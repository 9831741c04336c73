// The newest head that clients were given: what is told them later is never older, unless the chain
// itself fell back. One per chain; any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace weir::proxy {

// The calls whose answers show the head.
enum class HeadCall : std::uint8_t {
    none,
    number,       // eth_blockNumber
    block,        // eth_getBlockByNumber("latest", false)
    whole_block,  // eth_getBlockByNumber("latest", true)
};

class HeadFloor {
  public:
    // `fall_backs` counts the chain's own (RoutingSnapshot::fall_backs): what was given out before
    // the latest of them does not bind.
    std::uint64_t number(std::uint64_t fall_backs) const;
    void raise(std::uint64_t number, std::uint64_t fall_backs);

    // The newest block that was given out, as it was; nothing when none, or too large a one.
    void keep(HeadCall call, std::uint64_t number, std::string_view json);
    std::optional<std::string> kept(HeadCall call, std::uint64_t number) const;

  private:
    static constexpr std::size_t kLargestKept = 1024 * 1024;
    struct Block {
        std::uint64_t number = 0;
        std::string json;
    };

    std::atomic<std::uint64_t> number_ = 0;
    std::atomic<std::uint64_t> fall_backs_ = 0;
    mutable std::mutex mutex_;  // guards what follows, and changes of the above
    Block block_;
    Block whole_block_;
};

}  // namespace weir::proxy
