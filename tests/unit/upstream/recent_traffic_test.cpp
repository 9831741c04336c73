#include "upstream/recent_traffic.hpp"

#include "support/catch.hpp"

#include <memory>
#include <thread>
#include <vector>

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using End = RecentTraffic::End;

namespace {

constexpr std::size_t kLast = RecentTraffic::kSteps - 1;
const core::TimePoint kStart = core::TimePoint{} + 1000h;

}  // namespace

TEST_CASE("what clients met stands in the step in which they met it") {
    RecentTraffic traffic;
    traffic.add_call(End::served, kStart);
    traffic.add_call(End::failed, kStart + RecentTraffic::kStep);
    traffic.add_call(End::limited, kStart + RecentTraffic::kStep);
    const auto steps = traffic.list(kStart + RecentTraffic::kStep);
    REQUIRE(steps.size() == RecentTraffic::kSteps);
    CHECK(steps[kLast - 1].calls == 1);
    CHECK(steps[kLast - 1].failed == 0);
    CHECK(steps[kLast].calls == 2);
    CHECK(steps[kLast].failed == 1);
    CHECK(steps[kLast].limited == 1);
    CHECK(steps[kLast - 2].calls == 0);
}

TEST_CASE("calls whose client left are counted apart, and forgotten like the others") {
    RecentTraffic traffic;
    traffic.add_call(End::gone, kStart);
    traffic.add_call(End::failed, kStart);
    CHECK(traffic.latest(kStart).met.gone == 1);
    CHECK(traffic.latest(kStart).met.calls == 1);
    CHECK(traffic.list(kStart)[kLast].gone == 1);
    traffic.add_call(End::served, kStart + RecentTraffic::kSteps * RecentTraffic::kStep);
    CHECK(traffic.latest(kStart + RecentTraffic::kSteps * RecentTraffic::kStep).met.gone == 0);
}

TEST_CASE("what is met now is told apart from the step before") {
    RecentTraffic traffic;
    for (int second = 0; second < 60; ++second) {
        traffic.add_call(second < 45 ? End::served : End::failed, kStart + 1s * second);
    }
    const auto during = traffic.latest(kStart + 52s + 500ms);
    CHECK(during.span == 8s + 500ms);
    CHECK(during.met.calls > during.met.failed);
    const auto later = traffic.latest(kStart + 58s);
    CHECK(later.met.calls == later.met.failed);
    CHECK(later.met.failed >= 8);
    CHECK(traffic.latest(kStart + 70s).met.calls == 0);
    CHECK(traffic.list(kStart + 70s)[kLast - 2].failed == 10);
}

TEST_CASE("what is older than the window is forgotten, also where nobody called since") {
    RecentTraffic traffic;
    traffic.add_call(End::failed, kStart);
    traffic.add_request(5ms, kStart);
    CHECK(traffic.list(kStart + kLast * RecentTraffic::kStep)[0].failed == 1);
    for (const auto& step : traffic.list(kStart + RecentTraffic::kSteps * RecentTraffic::kStep)) {
        CHECK(step.calls == 0);
        CHECK_FALSE(step.p95);
    }
    traffic.add_call(End::served, kStart + RecentTraffic::kSteps * RecentTraffic::kStep);
    const auto later = traffic.list(kStart + RecentTraffic::kSteps * RecentTraffic::kStep);
    CHECK(later[kLast].calls == 1);
    CHECK(later[kLast].failed == 0);
    CHECK_FALSE(later[kLast].p50);
}

TEST_CASE("latencies of a step, nearly") {
    RecentTraffic traffic;
    for (int i = 0; i < 90; ++i) {
        traffic.add_request(10ms, kStart);
    }
    for (int i = 0; i < 10; ++i) {
        traffic.add_request(1s, kStart);
    }
    traffic.add_request(core::Duration::zero(), kStart);
    const auto step = traffic.list(kStart)[kLast];
    CHECK(step.p50.value() >= 10ms);
    CHECK(step.p50.value() <= 15ms);
    CHECK(step.p95.value() >= 1s);
    CHECK(step.p95.value() <= 1500ms);
    traffic.add_request(24h, kStart);
    CHECK(traffic.list(kStart)[kLast].p95.value() >= 1s);
}

TEST_CASE("many threads count in one step") {
    RecentTraffic traffic;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&traffic] {
            for (int i = 0; i < 10'000; ++i) {
                traffic.add_call(End::served, kStart);
            }
        });
    }
    threads.clear();
    CHECK(traffic.list(kStart)[kLast].calls == 40'000);
}
