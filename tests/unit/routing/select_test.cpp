#include "routing/select.hpp"

#include "support/catch.hpp"

#include <map>
#include <random>
#include <vector>

using namespace weir::routing;
using namespace std::chrono_literals;
using weir::core::TimePoint;

namespace {

const TimePoint kNow{1h};

UpstreamView fit(unsigned tier = 0) {
    UpstreamView view;
    view.state = UpstreamState::fit;
    view.identified = true;
    view.tier = tier;
    return view;
}

UpstreamView in_state(UpstreamState state, unsigned tier = 0) {
    UpstreamView view = fit(tier);
    view.state = state;
    if (state == UpstreamState::wrong_chain || state == UpstreamState::unknown) {
        view.identified = false;
    }
    return view;
}

UpstreamView cooling(TimePoint until) {
    UpstreamView view = in_state(UpstreamState::cooling_down);
    view.available_at = until;
    return view;
}

Need need(const char* method = "eth_call") { return {method, &find_method(method)}; }

RoutingSnapshot pool(std::vector<UpstreamView> views) {
    RoutingSnapshot snapshot;
    snapshot.upstreams = std::move(views);
    return snapshot;
}

// How often each upstream is chosen in many draws.
std::map<UpstreamIndex, int> spread(const RoutingSnapshot& snapshot, const Need& what,
                                    const Tried& tried = {}) {
    std::mt19937_64 random(1);
    std::map<UpstreamIndex, int> counts;
    for (int i = 0; i < 10'000; ++i) {
        const auto chosen = select(snapshot, what, tried, kNow, random());
        if (const auto* index = std::get_if<UpstreamIndex>(&chosen)) {
            ++counts[*index];
        }
    }
    return counts;
}

NoUpstream refusal(const RoutingSnapshot& snapshot, const Tried& tried = {},
                   const Need& what = need()) {
    const auto chosen = select(snapshot, what, tried, kNow, 1);
    REQUIRE(std::holds_alternative<NoUpstream>(chosen));
    return std::get<NoUpstream>(chosen);
}

Tried tried(std::initializer_list<UpstreamIndex> indices) {
    Tried set;
    for (const UpstreamIndex index : indices) {
        set.set(index);
    }
    return set;
}

}  // namespace

TEST_CASE("the lowest tier that can serve gets everything") {
    const RoutingSnapshot snapshot = pool({fit(1), fit(0), fit(0), fit(2)});
    const auto counts = spread(snapshot, need());
    CHECK(counts.size() == 2);
    CHECK(counts.at(1) > 4000);
    CHECK(counts.at(2) > 4000);
    CHECK(spread(snapshot, need(), tried({1, 2})).at(0) == 10'000);
    CHECK(spread(snapshot, need(), tried({0, 1, 2})).at(3) == 10'000);
}

TEST_CASE("traffic follows weight and score, and leaves a share to the lesser") {
    RoutingSnapshot snapshot = pool({fit(), fit()});
    snapshot.upstreams[0].score = 0.9;
    snapshot.upstreams[1].score = 0.3;
    auto counts = spread(snapshot, need());
    CHECK(counts[0] > 8500);
    CHECK(counts[1] > 500);

    snapshot = pool({fit(), fit(), fit()});
    snapshot.upstreams[0].weight = 8;
    counts = spread(snapshot, need());
    CHECK(counts[0] > counts[1] + counts[2] - 1000);

    snapshot = pool({fit(), fit()});
    snapshot.upstreams[0].slow_score = 0.1;
    CHECK(spread(snapshot, need("eth_getLogs"))[0] < 500);
    CHECK(spread(snapshot, need("eth_call"))[0] > 4000);
}

TEST_CASE("one that is sound among many that are not gets most") {
    RoutingSnapshot snapshot = pool({fit(), fit(), fit(), fit()});
    for (const UpstreamIndex failing : {0U, 1U, 3U}) {
        snapshot.upstreams[failing].score = 0.36;  // four calls in ten
    }
    CHECK(spread(snapshot, need())[2] > 6500);
}

TEST_CASE("a new upstream among old ones gets a trickle") {
    RoutingSnapshot snapshot = pool({fit(), fit(), fit(), fit()});
    snapshot.upstreams[2].trickle = true;
    const auto counts = spread(snapshot, need());
    CHECK(counts.at(2) > 50);
    CHECK(counts.at(2) < 1000);
}

TEST_CASE("what never serves") {
    for (const UpstreamState state : {UpstreamState::wrong_chain, UpstreamState::unknown,
                                      UpstreamState::auth_failed, UpstreamState::drained}) {
        INFO(to_string(state));
        CHECK(spread(pool({in_state(state), fit(1)}), need()).at(1) == 10'000);
        CHECK(refusal(pool({in_state(state)})).reason == NoUpstream::Reason::unfit);
    }
    UpstreamView unchecked = in_state(UpstreamState::circuit_open);
    unchecked.identified = false;
    CHECK(refusal(pool({unchecked})).reason == NoUpstream::Reason::unfit);
    CHECK(refusal(pool({})).reason == NoUpstream::Reason::unfit);
    CHECK(refusal(pool({in_state(UpstreamState::quota_spent)})).reason ==
          NoUpstream::Reason::quota_exhausted);
}

TEST_CASE("a cool-down is kept to the end and not beyond") {
    CHECK(spread(pool({cooling(kNow + 1ms), fit(1)}), need()).at(1) == 10'000);
    CHECK(spread(pool({cooling(kNow), fit(1)}), need()).at(0) == 10'000);
    const NoUpstream none = refusal(
        pool({cooling(kNow + 5s), cooling(kNow + 2s), in_state(UpstreamState::quota_spent)}));
    CHECK(none.reason == NoUpstream::Reason::rate_limited);
    CHECK(none.available_at == kNow + 2s);
}

TEST_CASE("lagging ones serve when nobody else can, and before those that are ill") {
    const UpstreamView lagging = in_state(UpstreamState::lagging);
    const UpstreamView ill = in_state(UpstreamState::circuit_open);
    CHECK(spread(pool({lagging, fit(1)}), need()).at(1) == 10'000);
    CHECK(spread(pool({lagging, ill}), need()).at(0) == 10'000);
    CHECK(refusal(pool({lagging, fit()}), tried({1})).reason == NoUpstream::Reason::all_tried);
    CHECK(refusal(pool({lagging, cooling(kNow + 1s)})).reason == NoUpstream::Reason::rate_limited);
}

TEST_CASE("if nobody is fit by health alone, the least bad serves") {
    UpstreamView bad = in_state(UpstreamState::circuit_open);
    bad.score = 0.1;
    UpstreamView better = in_state(UpstreamState::circuit_open, 1);
    better.score = 0.4;
    CHECK(spread(pool({bad, better}), need()).at(1) == 10'000);
    CHECK(spread(pool({bad, better}), need(), tried({1})).at(0) == 10'000);
    CHECK(refusal(pool({bad, better}), tried({0, 1})).reason == NoUpstream::Reason::all_tried);
    CHECK(refusal(pool({bad, fit()}), tried({1})).reason == NoUpstream::Reason::all_tried);
}

TEST_CASE("an upstream that lacks the method, or is slow at its kind, comes last") {
    UpstreamView lacks = fit();
    lacks.unsupported_methods = {"trace_block"};
    CHECK(spread(pool({lacks, fit(1)}), need("trace_block")).at(1) == 10'000);
    CHECK(spread(pool({lacks, fit(1)}), need("eth_call")).at(0) == 10'000);
    // Nobody else: its own refusal is the answer.
    CHECK(spread(pool({lacks}), need("trace_block")).at(0) == 10'000);

    UpstreamView slow = fit();
    slow.slow_circuit_open = true;
    CHECK(spread(pool({slow, fit(1)}), need("eth_getLogs")).at(1) == 10'000);
    CHECK(spread(pool({slow, fit(1)}), need("eth_call")).at(0) == 10'000);
}

TEST_CASE("an operator's policy is never overruled") {
    UpstreamView denies = fit();
    denies.policy = std::make_shared<MethodPolicy>(std::vector<std::string>{"debug_*"},
                                                   std::vector<std::string>{});
    CHECK(spread(pool({denies, fit(1)}), need("debug_traceCall")).at(1) == 10'000);
    CHECK(spread(pool({denies, fit(1)}), need("debug_unheardOf")).at(1) == 10'000);
    CHECK(spread(pool({denies, fit(1)}), need("eth_call")).at(0) == 10'000);
    CHECK(refusal(pool({denies}), {}, need("debug_traceCall")).reason ==
          NoUpstream::Reason::method_unsupported);
}

TEST_CASE("a full pool of the largest size is chosen from evenly") {
    std::vector<UpstreamView> views(kMaxUpstreams, fit());
    const auto counts = spread(pool(views), need());
    CHECK(counts.size() == kMaxUpstreams);
}

TEST_CASE("who was late or lacked the block a moment ago comes after those that did not") {
    Need after = need();
    after.late = tried({0});
    CHECK(spread(pool({fit(), fit(), fit()}), after).count(0) == 0);
    CHECK(spread(pool({fit()}), after)[0] == 10'000);
    CHECK(spread(pool({fit(0), fit(1)}), after)[0] == 10'000);  // no cause to leave a tier
    CHECK(first_choices(pool({fit(), fit()}), after, {}, kNow) == tried({1}));
    after.late.reset();
    after.lacking = tried({0});
    CHECK(spread(pool({fit(0), fit(1)}), after)[1] == 10'000);
    CHECK(spread(pool({fit()}), after)[0] == 10'000);
}

TEST_CASE("late is who was left behind in its own tier") {
    const RoutingSnapshot three = pool({fit(0), fit(0), fit(1)});
    CHECK(outdone(three, tried({1}), tried({0})) == tried({0}));
    CHECK(outdone(three, tried({2}), tried({0, 1})).none());
    CHECK(outdone(three, tried({0, 1}), tried({2})).none());
    CHECK(outdone(three, tried({1, 2}), tried({0})) == tried({0}));
    CHECK(outdone(three, {}, tried({0, 1, 2})).none());
}

TEST_CASE(
    "one whose blocks are other ones than most others have comes after those of the majority") {
    UpstreamView apart = fit();
    apart.apart = true;
    apart.reach = {200, kNow};
    UpstreamView at_head = fit(1);
    at_head.reach = {100, kNow};
    UpstreamView behind = fit(1);
    behind.reach = {99, kNow};
    behind.lag_blocks = 1;
    const Need latest{.method = "eth_call",
                      .traits = &find_method("eth_call"),
                      .block = {.kind = BlockNeed::Kind::latest}};
    Need ahead = latest;
    ahead.block = {.kind = BlockNeed::Kind::number, .number = 150};
    const RoutingSnapshot all = pool({apart, at_head, behind});
    for (const Need& each : {need(), latest, ahead}) {
        CHECK(spread(all, each).count(0) == 0);
        CHECK(spread(all, each, tried({1})).count(0) == 0);
        CHECK(spread(all, each, tried({1, 2})).at(0) == 10'000);  // rather than nobody
        CHECK_FALSE(first_choices(all, each, {}, kNow).test(0));
        const auto kept = select_kept(all, each, {}, 0, kNow);
        CHECK(std::get<UpstreamIndex>(kept) != 0);
    }
    // Before those that lack the method, and before those that lag.
    UpstreamView lacks = fit();
    lacks.unsupported_methods = {"eth_call"};
    CHECK(spread(pool({apart, lacks}), need()).count(1) == 0);
    CHECK(spread(pool({apart, in_state(UpstreamState::lagging)}), need()).count(1) == 0);
}
