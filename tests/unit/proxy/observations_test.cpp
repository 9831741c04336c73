#include "proxy/observations.hpp"

#include "server/observations_json.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <string>

using namespace weir;
using namespace weir::proxy;
using namespace std::chrono_literals;

namespace {

constexpr Observations::Source kSource = {"ethereum", "main", "generic"};
const core::WallTime kStart{1'700'000'000s};

}  // namespace

TEST_CASE("shapes are counted, with first and last time, the latest first") {
    Observations observations;
    observations.note(kSource, {200, -1, "one"}, kStart);
    observations.note(kSource, {200, std::nullopt, "two"}, kStart + 1s);
    observations.note(kSource, {200, -1, "one"}, kStart + 2s);
    const auto all = observations.list();
    REQUIRE(all.size() == 2);
    CHECK(all[0].shape.wording == "one");
    CHECK(all[0].count == 2);
    CHECK(all[0].first_seen == kStart);
    CHECK(all[0].last_seen == kStart + 2s);
    CHECK(server::observations_json(all, 0) ==
          R"({"observations":[{"chain":"ethereum","upstream":"main","provider":"generic",)"
          R"("status":200,"code":-1,"wording":"one","count":2,)"
          R"("first_seen":"2023-11-14T22:13:20Z","last_seen":"2023-11-14T22:13:22Z"},)"
          R"({"chain":"ethereum","upstream":"main","provider":"generic",)"
          R"("status":200,"code":null,"wording":"two","count":1,)"
          R"("first_seen":"2023-11-14T22:13:21Z","last_seen":"2023-11-14T22:13:21Z"}],)"
          R"("forgotten":0})");
    CHECK(server::observations_json({}, 3) == R"({"observations":[],"forgotten":3})");
}

TEST_CASE("the book is bounded: what was seen longest ago makes room") {
    Observations observations;
    for (std::size_t i = 0; i < Observations::kMost + 10; ++i) {
        observations.note(kSource, {200, std::nullopt, "shape " + std::string(i + 1, 'x')},
                          kStart + std::chrono::seconds(i));
    }
    const auto all = observations.list();
    CHECK(all.size() == Observations::kMost);
    CHECK(observations.forgotten() == 10);
    CHECK(all.back().first_seen == kStart + 10s);
}
