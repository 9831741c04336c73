// The JSON of /api/disagreements. Pure.
#pragma once

#include "chain/evidence.hpp"
#include "core/time.hpp"

#include <string>
#include <vector>

namespace weir::server {

// One chain's evidence, oldest first, and the names of its upstreams.
struct ChainDisagreements {
    std::string chain;
    std::vector<std::string> upstreams;
    std::vector<chain::Disagreement> kept;
};

// `now` and `wall` are the same moment on both clocks.
std::string disagreements_json(const std::vector<ChainDisagreements>& chains, core::TimePoint now,
                               core::WallTime wall);

}  // namespace weir::server
