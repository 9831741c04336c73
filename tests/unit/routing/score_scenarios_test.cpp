// Who gets how much beside whom: each weight of the choice stands here with the scenario that set
// it.
#include "routing/score.hpp"
#include "routing/select.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>

using namespace weir::routing;
using namespace std::chrono_literals;

namespace {

// One of two upstreams of a tier.
struct Rival {
    ScoreInput input = {};
    double good = 0;  // attempts; with `bad` they make the success share
    double bad = 0;
    double weight = 1;
    bool trickle = false;

    double score(const ScoreWeights& weights) const {
        ScoreInput seen = input;
        if (good + bad > 0) {
            seen.success = success_share(good, bad, weights);
        }
        return weir::routing::score(seen, weights);
    }
};

// The part of the calls that the second of two gets.
double share_of_second(const Rival& first, const Rival& second, const ScoreWeights& weights) {
    const double one = first.score(weights);
    const double other = second.score(weights);
    const double first_draws = draw_weight(first.weight, one, first.trickle, weights);
    const double second_draws = draw_weight(second.weight, other, second.trickle, weights);
    const double drawn = second_draws / (first_draws + second_draws);
    return drawn * (1 - chance_of_better(other, one, weights)) +
           (1 - drawn) * chance_of_better(one, other, weights);
}

ScoreInput input(double success, double throttled, std::uint64_t lag_blocks) {
    return {.success = success,
            .throttled = throttled,
            .latency = {},
            .best_latency = {},
            .lag_blocks = lag_blocks};
}

ScoreInput latency(weir::core::Duration own, weir::core::Duration best) {
    return {.success = 1, .throttled = 0, .latency = own, .best_latency = best, .lag_blocks = 0};
}

struct Scenario {
    const char* name;
    double ScoreWeights::* sets;  // the weight that it is the reason for
    Rival beside;
    Rival rival;
    double least;  // share of the rival
    double most;
};

const Scenario kScenarios[] = {
    {"who fails one call in ten gets two in five",
     &ScoreWeights::success,
     {},
     {.input = input(0.9, 0, 0)},
     0.38,
     0.41},
    {"the first failure of a new one is not taken for a habit",
     &ScoreWeights::good_will,
     {},
     {.bad = 1},
     0.29,
     0.34},
    {"20 ms more than 5 ms leave a quarter",
     &ScoreWeights::slack_ms,
     {.input = latency(5ms, 5ms)},
     {.input = latency(25ms, 5ms)},
     0.20,
     0.25},
    {"ten times slower leaves one in thirty, to keep its figures fresh",
     &ScoreWeights::preference,
     {.input = latency(20ms, 20ms)},
     {.input = latency(200ms, 20ms)},
     0.028,
     0.036},
    {"who is told to slow down every second time gets a good third",
     &ScoreWeights::throttled,
     {},
     {.input = input(1, 0.5, 0)},
     0.34,
     0.38},
    {"two blocks behind leave three in ten",
     &ScoreWeights::lag,
     {},
     {.input = input(1, 0, 2)},
     0.26,
     0.32},
    {"who always fails is tried once in twenty thousand calls",
     &ScoreWeights::least,
     {},
     {.input = input(0, 0, 0)},
     0.000035,
     0.000065},
    {"who recovers beside a sound one gets one in eleven",
     &ScoreWeights::trickle,
     {},
     {.trickle = true},
     0.08,
     0.10},
};

bool holds(const Scenario& scenario, const ScoreWeights& weights) {
    const double share = share_of_second(scenario.beside, scenario.rival, weights);
    return share >= scenario.least && share <= scenario.most;
}

}  // namespace

TEST_CASE("every scenario of the score comes out as written") {
    for (const Scenario& scenario : kScenarios) {
        INFO(scenario.name << ": "
                           << share_of_second(scenario.beside, scenario.rival, kScoreWeights));
        CHECK(holds(scenario, kScoreWeights));
    }
}

TEST_CASE("a weight that changes by three tenths changes its scenario") {
    // Each weight has a scenario: a new one without is noticed here.
    static_assert(sizeof(ScoreWeights) == std::size(kScenarios) * sizeof(double));
    for (const Scenario& scenario : kScenarios) {
        for (const double factor : {0.7, 1.3}) {
            ScoreWeights changed = kScoreWeights;
            changed.*scenario.sets *= factor;
            INFO(scenario.name << ", times " << factor << ": "
                               << share_of_second(scenario.beside, scenario.rival, changed));
            CHECK_FALSE(holds(scenario, changed));
        }
        CHECK(std::count_if(std::begin(kScenarios), std::end(kScenarios),
                            [&](const auto& other) { return other.sets == scenario.sets; }) == 1);
    }
}

TEST_CASE("the choice gives what the scenarios say, and each its configured weight") {
    struct Row {
        double first_weight;
        double first_score;
        bool trickle;
    };
    for (const Row& row : {Row{1, 1, false}, Row{9, 1, false}, Row{1, 0.3, false}, Row{1, 1, true},
                           Row{9, 0.3, false}, Row{0.1, 1, false}}) {
        RoutingSnapshot pool;
        pool.upstreams.resize(2);
        for (UpstreamView& each : pool.upstreams) {
            each.state = UpstreamState::fit;
            each.identified = true;
        }
        pool.upstreams[0].weight = row.first_weight;
        pool.upstreams[0].score = row.first_score;
        pool.upstreams[0].trickle = row.trickle;
        const double draws = draw_weight(row.first_weight, row.first_score, row.trickle);
        const double drawn = draws / (draws + 1);
        const double expected = drawn * (1 - chance_of_better(row.first_score, 1)) +
                                (1 - drawn) * chance_of_better(1, row.first_score);
        std::mt19937_64 random(3);
        const Need need{"eth_call", &find_method("eth_call")};
        int first = 0;
        for (int i = 0; i < 20'000; ++i) {
            const auto chosen = select(pool, need, {}, weir::core::TimePoint(1h), random());
            first += std::get<UpstreamIndex>(chosen) == 0 ? 1 : 0;
        }
        INFO("weight " << row.first_weight << ", score " << row.first_score);
        CHECK(first / 20'000.0 == Approx(expected).margin(0.015));
    }
}
