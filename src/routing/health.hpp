// What live traffic says of one upstream: the share of successes, and latencies per time class.
// Time is a parameter; the past fades by halves.
#pragma once

#include "core/time.hpp"
#include "routing/methods.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weir::routing {

// Counts of latencies in buckets that grow by a quarter of an octave, from 1 microsecond to more
// than an hour: a quantile is right to about a tenth.
class LatencyHistogram {
  public:
    void add(core::Duration latency);
    void fade();  // halves every count
    bool empty() const { return total_ == 0; }
    std::optional<core::Duration> quantile(double share) const;

  private:
    static constexpr std::size_t kPerOctave = 4;
    static constexpr std::size_t kBuckets = 34 * kPerOctave;
    std::array<std::uint32_t, kBuckets> counts_{};
    std::uint32_t total_ = 0;
};

enum class AttemptResult : std::uint8_t {
    success,    // an answer of any kind, errors that are the client's included
    failure,    // the upstream's fault
    throttled,  // a rate limit: no sign of illness
};

class HealthStats {
  public:
    static constexpr core::Duration kHalfLife = std::chrono::seconds(30);
    static constexpr double kMost = 50;  // weighted attempts: what is healed is forgiven in minutes
    static constexpr core::Duration kLatencyLasts = std::chrono::minutes(1);  // without a new one

    void record(AttemptResult result, TimeClass time_class, core::Duration latency,
                core::TimePoint now);

    // What was seen fades with time, also of an upstream that gets no calls: so it gets some again.
    void fade(core::TimePoint now);

    // Takes one failure back: it turned out to be nobody's fault.
    void forgive();

    // The share of attempts that were not the upstream's fault; nothing before traffic.
    std::optional<double> success_rate() const;

    // The same with a little good will mixed in, so that one failure among few attempts is not
    // taken for a habit. 1 before traffic.
    double success_estimate() const;
    double throttled_share() const;

    std::optional<core::Duration> mean_latency(TimeClass time_class) const;
    std::optional<core::Duration> latency_quantile(double share) const;  // all classes

  private:
    struct Latency {
        double mean = 0;  // exponentially weighted, in seconds
        bool known = false;
        core::TimePoint at{};  // of the newest
    };

    Latency& of(TimeClass c) { return latency_[c == TimeClass::slow ? 1 : 0]; }

    double good_ = 0;
    double bad_ = 0;
    double throttled_ = 0;
    bool any_ = false;
    core::TimePoint faded_{};
    std::array<Latency, 2> latency_{};
    LatencyHistogram histogram_;
};

}  // namespace weir::routing
