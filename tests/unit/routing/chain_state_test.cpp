#include "routing/chain_state.hpp"

#include "support/catch.hpp"

#include <vector>

using namespace weir::routing;

namespace {

UpstreamView in(UpstreamState state, bool identified = true) {
    UpstreamView view;
    view.state = state;
    view.identified = identified;
    return view;
}

}  // namespace

TEST_CASE("with nothing but open circuits a chain is down, unless the least bad one serves") {
    using enum UpstreamState;
    struct Case {
        const char* what;
        ChainState state;
        std::vector<UpstreamView> upstreams;
        RecentCalls recent;
        ChainState told;
    };
    UpstreamView on_trial = in(fit);
    on_trial.in_doubt = true;
    const std::vector<Case> cases = {
        {"one is on trial, unheard", ChainState::degraded, {on_trial}, {0, 0}, ChainState::down},
        {"one is fit", ChainState::ok, {in(fit), in(circuit_open)}, {9, 9}, ChainState::ok},
        {"all fail", ChainState::degraded, {in(circuit_open)}, {9, 9}, ChainState::down},
        {"some fail", ChainState::degraded, {in(circuit_open)}, {9, 1}, ChainState::down},
        {"it serves", ChainState::degraded, {in(circuit_open)}, {9, 0}, ChainState::degraded},
        {"nobody asks", ChainState::degraded, {in(circuit_open)}, {0, 0}, ChainState::down},
        {"one lags",
         ChainState::degraded,
         {in(circuit_open), in(lagging)},
         {9, 9},
         ChainState::degraded},
        {"one rests",
         ChainState::degraded,
         {in(cooling_down), in(drained)},
         {9, 9},
         ChainState::degraded},
        {"one lags that nobody knows",
         ChainState::degraded,
         {in(circuit_open), in(lagging, false)},
         {9, 9},
         ChainState::down},
        {"the head was given up", ChainState::degraded, {in(fit)}, {9, 9}, ChainState::degraded},
        {"nobody is left", ChainState::down, {in(wrong_chain, false)}, {9, 0}, ChainState::down},
    };
    for (const Case& each : cases) {
        CAPTURE(each.what);
        RoutingSnapshot pool;
        pool.state = each.state;
        pool.upstreams = each.upstreams;
        CHECK(told_state(pool, each.recent) == each.told);
    }
}
