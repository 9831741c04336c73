#include "routing/retry_budget.hpp"

#include "support/catch.hpp"

using namespace weir::routing;
using namespace std::chrono_literals;
using weir::core::TimePoint;

namespace {

constexpr TimePoint kStart{1h};

unsigned taken(RetryBudget& budget, TimePoint now, unsigned wanted) {
    unsigned got = 0;
    for (unsigned i = 0; i < wanted; ++i) {
        if (budget.has_one(now)) {
            budget.take(now);
            ++got;
        }
    }
    return got;
}

}  // namespace

TEST_CASE("small traffic may always try again") {
    RetryBudget budget;
    for (auto now = kStart; now < kStart + 60s; now += 1s) {
        CHECK(taken(budget, now, 10) == 10);
    }
}

TEST_CASE("further attempts stay within a fifth of the traffic of the last ten seconds") {
    RetryBudget budget;
    for (auto now = kStart; now < kStart + 10s; now += 1s) {
        for (int i = 0; i < 1000; ++i) {
            budget.note_calls(1, now);
        }
    }
    CHECK(taken(budget, kStart + 9s, 5000) == 2000);
    CHECK(taken(budget, kStart + 10s, 10) == 0);  // a tenth of the traffic is forgotten
    CHECK(taken(budget, kStart + 18s, 10) == 0);  // the attempts are not yet
    CHECK(taken(budget, kStart + 19s, 5000) == 100);
}

TEST_CASE("an idle time leaves the least rate only") {
    RetryBudget budget;
    budget.note_calls(100'000, kStart);
    CHECK(taken(budget, kStart + 1h, 5000) == 100);
    CHECK(taken(budget, kStart + 1h + 5s, 5000) == 0);
    CHECK(taken(budget, kStart + 1h + 10s, 5000) == 100);
}

TEST_CASE("what is given back may be taken again") {
    RetryBudget budget;
    CHECK(taken(budget, kStart, 60) == 60);
    CHECK(taken(budget, kStart + 1s, 60) == 40);
    for (int i = 0; i < 45; ++i) {
        budget.give_back();
    }
    CHECK(taken(budget, kStart + 1s, 60) == 45);
    RetryBudget untouched;
    untouched.give_back();
    CHECK(taken(untouched, kStart, 200) == 100);
}
