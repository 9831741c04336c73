// A chain view with a clock of its own, for tests.
#pragma once

#include "chain/chain_view.hpp"
#include "core/time.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace weir::test {

// Upstreams are on the right chain from the start.
struct ViewFixture {
    explicit ViewFixture(std::size_t upstreams,
                         core::Duration block_time = std::chrono::seconds(12))
        : view(rules(upstreams, block_time)) {
        for (std::size_t i = 0; i < upstreams; ++i) {
            view.observe_chain_id(i, 1, {});
        }
    }

    static chain::ChainRules rules(std::size_t upstreams, core::Duration block_time) {
        chain::ChainRules rules;
        rules.chain_id = 1;
        rules.upstreams = upstreams;
        rules.block_time = block_time;
        return rules;
    }

    void head(std::size_t upstream, std::uint64_t number, const char* fork = "") {
        chain::Observation observation;
        observation.latest = {number, "0x" + std::to_string(number) + fork};
        observation.at = now;
        view.observe_head(upstream, observation);
    }

    std::uint64_t number() const { return view.head() ? view.head()->number : 0; }

    core::TimePoint now{std::chrono::hours(1)};
    chain::ChainView view;
};

}  // namespace weir::test
