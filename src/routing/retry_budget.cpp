#include "routing/retry_budget.hpp"

#include <algorithm>
#include <utility>

namespace weir::routing {
namespace {

std::int64_t second_of(core::TimePoint time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

RetryBudget::Second& RetryBudget::at(core::TimePoint now) {
    const std::int64_t second = second_of(now);
    Second& place = seconds_[static_cast<std::uint64_t>(second) % kWindow];
    if (place.second < second) {
        place = {.second = second};
    }
    return place;
}

void RetryBudget::note_calls(std::uint64_t calls, core::TimePoint now) { at(now).calls += calls; }

void RetryBudget::take(core::TimePoint now) { ++at(now).retries; }

void RetryBudget::give_back() {
    const auto latest = std::max_element(seconds_.begin(), seconds_.end(),
                                         [](const Second& one, const Second& other) {
                                             return std::pair(one.retries > 0, one.second) <
                                                    std::pair(other.retries > 0, other.second);
                                         });
    latest->retries -= std::min<std::uint64_t>(latest->retries, 1);
}

bool RetryBudget::has_one(core::TimePoint now) const {
    const std::int64_t since = second_of(now) - static_cast<std::int64_t>(kWindow);
    std::uint64_t calls = 0;
    std::uint64_t retries = 0;
    for (const Second& each : seconds_) {
        if (each.second > since) {
            calls += each.calls;
            retries += each.retries;
        }
    }
    const double allowed =
        std::max(kShare * static_cast<double>(calls), static_cast<double>(kLeastRate * kWindow));
    return static_cast<double>(retries) + 1 <= allowed;
}

}  // namespace weir::routing
