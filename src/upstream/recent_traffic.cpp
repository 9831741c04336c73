#include "upstream/recent_traffic.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace weir::upstream {
namespace {

using Micros = std::chrono::duration<double, std::micro>;

constexpr double kFirst = 100;  // microseconds: the end of the first bucket
constexpr auto kRelaxed = std::memory_order_relaxed;

std::int64_t step_of(core::TimePoint now) { return now.time_since_epoch() / RecentTraffic::kStep; }

}  // namespace

// The slot of the step that `now` is in, emptied by whoever comes to it first.
RecentTraffic::Slot& RecentTraffic::slot_of(core::TimePoint now) {
    const std::int64_t step = step_of(now);
    Slot& slot = slots_[static_cast<std::size_t>(step) % kSteps];
    if (slot.step.load(std::memory_order_acquire) == step) {
        return slot;
    }
    const std::lock_guard lock(turning_);
    if (slot.step.load(kRelaxed) < step) {
        slot.calls.store(0, kRelaxed);
        slot.limited.store(0, kRelaxed);
        slot.failed.store(0, kRelaxed);
        for (std::atomic<std::uint32_t>& count : slot.durations) {
            count.store(0, kRelaxed);
        }
        slot.step.store(step, std::memory_order_release);
    }
    return slot;
}

void RecentTraffic::add_call(End end, core::TimePoint now) {
    Slot& slot = slot_of(now);
    slot.calls.fetch_add(1, kRelaxed);
    if (end == End::limited) {
        slot.limited.fetch_add(1, kRelaxed);
    } else if (end == End::failed) {
        slot.failed.fetch_add(1, kRelaxed);
    }
}

void RecentTraffic::add_request(core::Duration duration, core::TimePoint now) {
    const double micros = Micros(duration).count();
    const double bucket = micros <= kFirst ? 0 : std::ceil(2 * std::log2(micros / kFirst));
    const auto place = static_cast<std::size_t>(bucket);
    slot_of(now).durations[std::min(place, kBuckets - 1)].fetch_add(1, kRelaxed);
}

std::optional<core::Duration> RecentTraffic::quantile(const Slot& slot, double share) {
    std::uint64_t total = 0;
    for (const std::atomic<std::uint32_t>& count : slot.durations) {
        total += count.load(kRelaxed);
    }
    std::uint64_t seen = 0;
    for (std::size_t place = 0; place < kBuckets; ++place) {
        seen += slot.durations[place].load(kRelaxed);
        if (seen != 0 && static_cast<double>(seen) >= share * static_cast<double>(total)) {
            const double end = kFirst * std::exp2(static_cast<double>(place) / 2);
            return std::chrono::duration_cast<core::Duration>(Micros(end));
        }
    }
    return std::nullopt;
}

std::vector<RecentTraffic::Step> RecentTraffic::list(core::TimePoint now) const {
    const std::int64_t last = step_of(now);
    std::vector<Step> steps(kSteps);
    for (std::size_t back = 0; back < kSteps; ++back) {
        const std::int64_t step = last - static_cast<std::int64_t>(back);
        if (step < 0) {
            break;
        }
        const Slot& slot = slots_[static_cast<std::size_t>(step) % kSteps];
        if (slot.step.load(std::memory_order_acquire) == step) {
            steps[kSteps - 1 - back] = {slot.calls.load(kRelaxed), slot.limited.load(kRelaxed),
                                        slot.failed.load(kRelaxed), quantile(slot, 0.5),
                                        quantile(slot, 0.95)};
        }
    }
    return steps;
}

}  // namespace weir::upstream
