#include "upstream/calls_in_flight.hpp"

#include "support/catch.hpp"

#include <optional>
#include <utility>

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;

namespace {

constexpr core::TimePoint kStart = core::TimePoint{} + 1000h;

}  // namespace

TEST_CASE("calls in flight are counted until they end, with the age of the oldest") {
    CallsInFlight calls;
    CHECK(calls.look(kStart).calls == 0);
    CHECK(calls.look(kStart).oldest == 0s);
    std::optional<CallsInFlight::Held> first(std::in_place, calls, 1, kStart);
    {
        const CallsInFlight::Held batch(calls, 5, kStart + 7s);
        const auto seen = calls.look(kStart + 9s);
        CHECK(seen.calls == 6);
        CHECK(seen.late == 1);
        CHECK(seen.oldest <= 9s);
        CHECK(seen.oldest >= 9s - CallsInFlight::kStep);
    }
    CHECK(calls.look(kStart + 9s).calls == 1);
    CallsInFlight::Held moved(std::move(*first));
    first.reset();
    CHECK(calls.look(kStart + 9s).calls == 1);
}

TEST_CASE("a call that has just begun has no age") {
    CallsInFlight calls;
    const CallsInFlight::Held held(calls, 1, kStart);
    CHECK(calls.look(kStart).calls == 1);
    CHECK(calls.look(kStart).oldest == 0s);
    CHECK(calls.look(kStart).late == 0);
}
