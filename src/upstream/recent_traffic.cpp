#include "upstream/recent_traffic.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace weir::upstream {
namespace {

using Micros = std::chrono::duration<double, std::micro>;

constexpr double kFirst = 100;  // microseconds: the end of the first bucket
constexpr auto kRelaxed = std::memory_order_relaxed;

std::int64_t beat_of(core::TimePoint now) { return now.time_since_epoch() / RecentTraffic::kBeat; }

template <typename Buckets>
std::optional<core::Duration> quantile(const Buckets& buckets, double share) {
    std::uint64_t total = 0;
    for (const std::uint64_t count : buckets) {
        total += count;
    }
    std::uint64_t seen = 0;
    for (std::size_t place = 0; place < buckets.size(); ++place) {
        seen += buckets[place];
        if (seen != 0 && static_cast<double>(seen) >= share * static_cast<double>(total)) {
            const double end = kFirst * std::exp2(static_cast<double>(place) / 2);
            return std::chrono::duration_cast<core::Duration>(Micros(end));
        }
    }
    return std::nullopt;
}

}  // namespace

// The slot of the beat that `now` is in, emptied by whoever comes to it first.
RecentTraffic::Slot& RecentTraffic::slot_of(core::TimePoint now) {
    const std::int64_t beat = beat_of(now);
    Slot& slot = slots_[static_cast<std::size_t>(beat) % kBeats];
    if (slot.beat.load(std::memory_order_acquire) == beat) {
        return slot;
    }
    const std::lock_guard lock(turning_);
    if (slot.beat.load(kRelaxed) < beat) {
        slot.calls.store(0, kRelaxed);
        slot.limited.store(0, kRelaxed);
        slot.failed.store(0, kRelaxed);
        slot.gone.store(0, kRelaxed);
        for (std::atomic<std::uint32_t>& count : slot.durations) {
            count.store(0, kRelaxed);
        }
        slot.beat.store(beat, std::memory_order_release);
    }
    return slot;
}

void RecentTraffic::add_call(End end, core::TimePoint now) {
    Slot& slot = slot_of(now);
    if (end == End::gone) {
        slot.gone.fetch_add(1, kRelaxed);
        return;
    }
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

RecentTraffic::Step RecentTraffic::sum(std::int64_t first, std::int64_t last) const {
    Step step;
    std::array<std::uint64_t, kBuckets> durations{};
    for (std::int64_t beat = std::max<std::int64_t>(first, 0); beat <= last; ++beat) {
        const Slot& slot = slots_[static_cast<std::size_t>(beat) % kBeats];
        if (slot.beat.load(std::memory_order_acquire) != beat) {
            continue;
        }
        step.calls += slot.calls.load(kRelaxed);
        step.limited += slot.limited.load(kRelaxed);
        step.failed += slot.failed.load(kRelaxed);
        step.gone += slot.gone.load(kRelaxed);
        for (std::size_t place = 0; place < kBuckets; ++place) {
            durations[place] += slot.durations[place].load(kRelaxed);
        }
    }
    step.p50 = quantile(durations, 0.5);
    step.p95 = quantile(durations, 0.95);
    return step;
}

std::vector<RecentTraffic::Step> RecentTraffic::list(core::TimePoint now) const {
    constexpr auto kOfStep = static_cast<std::int64_t>(kBeatsOfStep);
    const std::int64_t last = beat_of(now);
    std::vector<Step> steps(kSteps);
    std::int64_t first = last - last % kOfStep;
    for (auto step = steps.rbegin(); step != steps.rend() && first >= 0; ++step) {
        *step = sum(first, std::min(first + kOfStep - 1, last));
        first -= kOfStep;
    }
    return steps;
}

RecentTraffic::Latest RecentTraffic::latest(core::TimePoint now) const {
    const std::int64_t last = beat_of(now);
    const std::int64_t first = last - static_cast<std::int64_t>(kBeatsOfStep) + 1;
    return {now - core::TimePoint(first * kBeat), sum(first, last)};
}

}  // namespace weir::upstream
