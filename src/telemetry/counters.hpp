// What meters count with. For this room's .cpp files.
#pragma once

#include "core/time.hpp"
#include "telemetry/metrics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weir::telemetry {

using Counter = std::atomic<std::uint64_t>;
using Counters = std::vector<Counter>;

inline void add(Counter& counter, std::uint64_t amount = 1) {
    counter.fetch_add(amount, std::memory_order_relaxed);
}

inline double value_of(const Counter& counter) {
    return static_cast<double>(counter.load(std::memory_order_relaxed));
}

// Upper bounds in microseconds: from a local answer to the slowest trace.
inline constexpr std::array<std::uint64_t, 18> kBounds = {
    100,    250,     500,     1'000,   2'500,     5'000,     10'000,    25'000,     50'000,
    75'000, 100'000, 250'000, 500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000, 30'000'000};

class Histogram {
  public:
    void observe(core::Duration duration) {
        const auto micros = std::max<std::int64_t>(
            0, std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
        const auto value = static_cast<std::uint64_t>(micros);
        const auto* const bound = std::lower_bound(kBounds.begin(), kBounds.end(), value);
        add(buckets_[static_cast<std::size_t>(bound - kBounds.begin())]);
        add(sum_micros_, value);
    }

    const auto& buckets() const { return buckets_; }  // not cumulative
    const Counter& sum_micros() const { return sum_micros_; }

  private:
    std::array<Counter, kBounds.size() + 1> buckets_{};  // the last one is +Inf
    Counter sum_micros_ = 0;
};

inline constexpr std::array<std::string_view, 2> kClasses = {"fast", "slow"};
inline constexpr std::array<std::string_view, 2> kScopes = {"upstream", "client"};
inline constexpr std::array<std::string_view, 4> kWriteOutcomes = {"accepted", "rejected",
                                                                   "unknown", "pending"};
inline constexpr std::array<std::string_view, 7> kDisagreements = {
    "lag", "reorg", "regression", "implausible_head", "wrong_network", "transaction_hash", "other"};
inline constexpr std::array<std::string_view, 9> kStates = {
    "fit",         "lagging", "wrong_chain",  "cooling_down", "quota_spent",
    "auth_failed", "unknown", "circuit_open", "drained"};
// The place of `word`; the last one for a word that is not there.
template <std::size_t N>
std::size_t place_of(const std::array<std::string_view, N>& words, std::string_view word) {
    const auto* const found = std::find(words.begin(), words.end(), word);
    return found == words.end() ? N - 1 : static_cast<std::size_t>(found - words.begin());
}

struct UpstreamCounters {
    explicit UpstreamCounters(std::size_t causes) : attempts(causes) {}

    Counters attempts;  // by cause
    Histogram duration;
    Counter units = 0;
    // What its pool last said that the gateway's own questions cost, and what they cost in all: a
    // reload may bring a pool that begins anew. Guarded as the chains.
    std::uint64_t probe_units_said = 0;
    std::uint64_t probe_units = 0;
};

struct ChainCounters {
    explicit ChainCounters(const MetricsLayout& layout)
        : calls(layout.methods.size() * layout.outcomes.size()) {}

    Counters calls;  // by method, then outcome
    std::array<Histogram, kClasses.size()> duration;
    std::array<Counter, kScopes.size()> rate_limited{};
    std::array<Counter, kWriteOutcomes.size()> writes{};
    std::array<Counter, kDisagreements.size()> disagreements{};
    std::map<std::string, UpstreamCounters> upstreams;  // by name; guarded as the chains
};

struct ClientMeter::Counters {
    explicit Counters(std::size_t outcomes) : calls(outcomes) {}

    telemetry::Counters calls;  // by outcome
    Counter units = 0;
};

struct ChainMeter::Handles {
    const MetricsLayout& layout;
    ChainCounters& chain;
    std::vector<UpstreamCounters*> upstreams;  // by place
};

}  // namespace weir::telemetry
