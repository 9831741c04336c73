#include "routing/health.hpp"

#include "routing/score.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weir::routing {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kNewest = 0.1;     // weight of the newest latency in the mean
constexpr double kForgotten = 0.5;  // fewer weighted attempts than this say nothing

}  // namespace

void LatencyHistogram::add(core::Duration latency) {
    const auto micros = static_cast<std::uint64_t>(std::max<std::int64_t>(
        1, std::chrono::duration_cast<std::chrono::microseconds>(latency).count()));
    // Position of the highest bit, and the two bits after it.
    const auto octave = static_cast<std::size_t>(std::bit_width(micros)) - 1;
    const std::size_t quarter = ((micros << 2U) >> octave) & 3U;
    ++counts_[std::min(octave * kPerOctave + quarter, kBuckets - 1)];
    ++total_;
}

void LatencyHistogram::fade() {
    total_ = 0;
    for (std::uint32_t& count : counts_) {
        count /= 2;
        total_ += count;
    }
}

std::optional<core::Duration> LatencyHistogram::quantile(double share) const {
    if (total_ == 0) {
        return std::nullopt;
    }
    const auto rank = static_cast<std::uint32_t>(std::ceil(share * total_));
    std::uint32_t seen = 0;
    std::size_t bucket = 0;
    for (; bucket < kBuckets - 1; ++bucket) {
        seen += counts_[bucket];
        if (seen >= std::max(rank, 1U)) {
            break;
        }
    }
    const double low = std::ldexp(1.0 + static_cast<double>(bucket % kPerOctave) / kPerOctave,
                                  static_cast<int>(bucket / kPerOctave));
    const double middle = low * (1 + 0.5 / (kPerOctave + static_cast<double>(bucket % kPerOctave)));
    return std::chrono::duration_cast<core::Duration>(
        std::chrono::duration<double, std::micro>(middle));
}

void HealthStats::fade(core::TimePoint now) {
    const auto age = now - faded_;
    if (age < std::chrono::seconds(1)) {
        return;
    }
    if (!any_) {
        faded_ = now;
        return;
    }
    const double rest = std::exp2(-Seconds(age).count() / Seconds(kHalfLife).count());
    const bool halved = std::floor(Seconds(faded_.time_since_epoch()) / Seconds(kHalfLife)) !=
                        std::floor(Seconds(now.time_since_epoch()) / Seconds(kHalfLife));
    good_ *= rest;
    bad_ *= rest;
    throttled_ *= rest;
    if (halved) {
        histogram_.fade();
    }
    for (Latency& latency : latency_) {
        latency.known = latency.known && now - latency.at < kLatencyLasts;
    }
    faded_ = now;
}

void HealthStats::record(AttemptResult result, TimeClass time_class, core::Duration latency,
                         core::TimePoint now) {
    fade(now);
    any_ = true;
    switch (result) {
        case AttemptResult::success: {
            good_ += 1;
            break;
        }
        case AttemptResult::failure:
            bad_ += 1;
            break;
        case AttemptResult::throttled:
            throttled_ += 1;
            return;  // how fast somebody refuses says nothing of how fast it answers
    }
    if (const double all = good_ + bad_; all > kMost) {
        good_ *= kMost / all;
        bad_ *= kMost / all;
    }
    Latency& mean = of(time_class);
    const double seconds = Seconds(latency).count();
    // A failure may come fast, but never makes an upstream look faster than its answers.
    if (result == AttemptResult::success || seconds > mean.mean) {
        mean.mean = mean.known ? mean.mean + kNewest * (seconds - mean.mean) : seconds;
        mean.known = true;
        mean.at = now;
        histogram_.add(latency);
    }
}

void HealthStats::forgive() { bad_ = std::max(0.0, bad_ - 1); }

std::optional<double> HealthStats::success_rate() const {
    const double all = good_ + bad_;
    // Limits say nothing of it, nor does what is long past.
    return all < kForgotten ? std::nullopt : std::optional(good_ / all);
}

double HealthStats::success_estimate() const { return success_share(good_, bad_); }

double HealthStats::throttled_share() const {
    return throttled_ / (good_ + bad_ + throttled_ + kScoreWeights.good_will);
}

std::optional<core::Duration> HealthStats::mean_latency(TimeClass time_class) const {
    const Latency& mean = latency_[time_class == TimeClass::slow ? 1 : 0];
    if (!mean.known) {
        return std::nullopt;
    }
    return std::chrono::duration_cast<core::Duration>(Seconds(mean.mean));
}

std::optional<core::Duration> HealthStats::latency_quantile(double share) const {
    return histogram_.quantile(share);
}

}  // namespace weir::routing
