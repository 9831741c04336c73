#include "routing/state_reach.hpp"

#include <algorithm>

namespace weir::routing {

StateReach::StateReach(const config::History& history)
    : fixed_(history.kind != config::History::Kind::automatic) {
    if (history.kind == config::History::Kind::blocks) {
        configured_ = history.blocks;
    }
}

void StateReach::refuse(std::uint64_t depth, core::TimePoint now) {
    if (!fixed_) {
        learned_ = std::min(learned_.value_or(depth), depth);
        until_ = now + kExpiry;
    }
}

void StateReach::serve(std::uint64_t depth) {
    if (learned_ && depth >= *learned_) {
        learned_.reset();
    }
}

void StateReach::expire(core::TimePoint now) {
    if (learned_ && now >= until_) {
        learned_.reset();
    }
}

}  // namespace weir::routing
