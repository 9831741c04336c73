// Every metric by name, in one place. Handles are resolved at start; labels are bounded.
#pragma once

#include "core/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weir::telemetry {

// What the labels are made of. Methods and causes are dense numbers given by their tables; method 0
// is `other`.
struct MetricsLayout {
    struct Chain {
        std::string name;
        std::vector<std::string> upstreams;
    };
    std::vector<Chain> chains;
    std::vector<std::string> methods;   // by number
    std::vector<std::string> causes;    // by number
    std::vector<std::string> outcomes;  // of a request, by number
    std::string version;
};

// What only a look at the daemon's state can tell, asked for at each scrape.
struct UpstreamGauges {
    std::uint64_t head = 0;
    std::uint64_t head_lag = 0;
    bool fit = false;
    std::string_view state;     // one of the words of /api/status
    double allowance_used = 0;  // of the daily one, 0 to 1; 0 where there is none
    double score = 0;
    double cooldown_seconds = 0;
    std::uint64_t probe_units = 0;  // on top of those counted for clients
};
struct Gauges {
    struct Chain {
        std::uint64_t head = 0;
        std::vector<UpstreamGauges> upstreams;
    };
    std::vector<Chain> chains;
    std::uint64_t connections = 0;
    std::uint64_t in_flight = 0;
};

// Any thread; counting is a few atomic additions, no lock and no lookup. Numbers out of the
// layout's range count as `other` where there is one and are ignored elsewhere. Every family is in
// the output from the start; series of bounded label sets too, those of methods once they are not
// zero.
class Metrics {
  public:
    explicit Metrics(const MetricsLayout& layout);
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    // One call answered (a batch counts each of its calls). `slow` is the time class.
    enum class TimeClass : std::uint8_t { fast, slow };
    void call(std::size_t chain, std::size_t method, std::size_t outcome);
    void request(std::size_t chain, TimeClass time_class, core::Duration duration);
    void attempt(std::size_t chain, std::size_t upstream, std::size_t cause,
                 core::Duration duration);
    enum class Scope : std::uint8_t { upstream, client };
    void rate_limited(std::size_t chain, Scope scope);
    void write(std::size_t chain, std::string_view outcome);  // accepted|rejected|unknown|pending
    // lag|reorg|wrong_network|transaction_hash; another word counts as other.
    void disagreement(std::size_t chain, std::string_view kind);
    void unknown_shape();
    void units(std::size_t chain, std::size_t upstream, std::uint64_t units);

    // The Prometheus text exposition format 0.0.4.
    std::string render(const Gauges& gauges);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weir::telemetry
