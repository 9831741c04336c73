#include "proxy/head_floor.hpp"

namespace weir::proxy {

std::uint64_t HeadFloor::number(std::uint64_t fall_backs) const {
    return fall_backs_.load(std::memory_order_acquire) == fall_backs
               ? number_.load(std::memory_order_acquire)
               : 0;
}

void HeadFloor::raise(std::uint64_t number, std::uint64_t fall_backs) {
    if (this->number(fall_backs) >= number) {
        return;
    }
    const std::lock_guard lock(mutex_);
    const std::uint64_t known = fall_backs_.load(std::memory_order_relaxed);
    if (fall_backs < known || (fall_backs == known && number <= number_.load())) {
        return;
    }
    number_.store(number, std::memory_order_release);
    if (fall_backs > known) {
        block_ = {};
        whole_block_ = {};
        fall_backs_.store(fall_backs, std::memory_order_release);
    }
}

void HeadFloor::keep(HeadCall call, std::uint64_t number, std::string_view json) {
    if (json.size() > kLargestKept) {
        return;
    }
    const std::lock_guard lock(mutex_);
    Block& kept = call == HeadCall::whole_block ? whole_block_ : block_;
    if (number > kept.number && number == number_.load()) {
        kept = {number, std::string(json)};
    }
}

std::optional<std::string> HeadFloor::kept(HeadCall call, std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const Block& kept = call == HeadCall::whole_block ? whole_block_ : block_;
    return kept.number == number && !kept.json.empty() ? std::optional(kept.json) : std::nullopt;
}

}  // namespace weir::proxy
