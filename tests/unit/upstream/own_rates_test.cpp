#include "upstream/own_rates.hpp"

#include "support/catch.hpp"

#include <string>

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;

namespace {

constexpr core::TimePoint kStart = core::TimePoint{} + 1000h;

}  // namespace

TEST_CASE("who is over its own rate, now and in the last minute") {
    OwnRates rates;
    CHECK(rates.list(kStart).empty());
    for (int i = 0; i < 3; ++i) {
        rates.add("bot", kStart + 1s * i);
    }
    rates.add("app", kStart + 1s);
    auto seen = rates.list(kStart + 4s);
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].name == "bot");
    CHECK(seen[0].calls == 3);
    CHECK(seen[0].latest == 3);
    CHECK(seen[1].name == "app");
    rates.add("bot", kStart + 40s);
    seen = rates.list(kStart + 41s);
    CHECK(seen[0].calls == 4);
    CHECK(seen[0].latest == 1);
    CHECK(seen[1].latest == 0);
    CHECK(rates.list(kStart + 70s).size() == 1);
    CHECK(rates.list(kStart + 200s).empty());
    rates.add("bot", kStart + 200s);
    CHECK(rates.list(kStart + 200s)[0].calls == 1);
}

TEST_CASE("so many clients are kept and no more") {
    OwnRates rates;
    for (std::size_t i = 0; i < 2 * OwnRates::kMostClients; ++i) {
        rates.add("client-" + std::to_string(i), kStart + i * 100ms);
    }
    CHECK(rates.list(kStart + 12s).size() == OwnRates::kMostClients);
}
