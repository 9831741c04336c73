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

// What the labels are made of, but for names that a new configuration can bring. Methods and causes
// are dense numbers given by their tables; method 0 is `other`.
struct MetricsLayout {
    std::vector<std::string> methods;   // by number
    std::vector<std::string> causes;    // by number
    std::vector<std::string> outcomes;  // of a call, by number
    std::string version;
};

struct ChainNames {
    std::string name;
    std::vector<std::string> upstreams;
};

// What only a look at the daemon's state can tell, asked for at each scrape.
struct UpstreamGauges {
    std::string name;
    std::uint64_t head = 0;
    std::uint64_t head_lag = 0;
    bool fit = false;
    std::string_view state;     // one of the words of /api/status
    double allowance_used = 0;  // of the daily one, 0 to 1; 0 where there is none
    double score = 0;
    bool apart = false;
    double cooldown_seconds = 0;
    std::uint64_t probe_units = 0;  // on top of those counted for clients
};
struct Gauges {
    struct Chain {
        std::string name;
        std::uint64_t head = 0;
        std::vector<UpstreamGauges> upstreams;
    };
    std::vector<Chain> chains;
    std::uint64_t connections = 0;
    std::uint64_t in_flight = 0;
    std::uint64_t log_lines_lost = 0;
};

// The counters of one chain and its upstreams, by their places. Any thread; counting is a few
// atomic additions, no lock and no lookup. Numbers out of range count as `other` where there is one
// and are ignored elsewhere. Belongs to its Metrics, which must outlive it.
class ChainMeter {
  public:
    ChainMeter();  // counts nothing
    ~ChainMeter();
    ChainMeter(ChainMeter&&) noexcept;

    // One call answered (a batch counts each of its calls). `slow` is the time class.
    enum class TimeClass : std::uint8_t { fast, slow };
    void call(std::size_t method, std::size_t outcome) const;
    void request(TimeClass time_class, core::Duration duration) const;
    void attempt(std::size_t upstream, std::size_t cause, core::Duration duration) const;
    enum class Scope : std::uint8_t { upstream, client };
    void rate_limited(Scope scope) const;
    void write(std::string_view outcome) const;  // accepted|rejected|unknown|pending
    // lag|reorg|wrong_network|transaction_hash; another word counts as other.
    void disagreement(std::string_view kind) const;
    void units(std::size_t upstream, std::uint64_t units) const;

  private:
    friend class Metrics;
    struct Handles;
    explicit ChainMeter(std::unique_ptr<const Handles> handles);
    std::unique_ptr<const Handles> handles_;
};

// The counters of one client on one chain. As ChainMeter.
class ClientMeter {
  public:
    void call(std::size_t outcome) const;
    void units(std::uint64_t units) const;

  private:
    friend class Metrics;
    struct Counters;
    Counters* counters_ = nullptr;
};

// What a client has used of one chain since the start.
struct ClientUsage {
    std::string client;
    std::string chain;
    std::vector<std::uint64_t> calls;  // by outcome
    std::uint64_t units = 0;
};

// Any thread. Every family is in the output from the start; series of bounded label sets too, those
// of methods and of clients once they are not zero. Who is bound again under the same names goes on
// where they stood; a counter is never forgotten.
class Metrics {
  public:
    explicit Metrics(const MetricsLayout& layout);
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    ChainMeter bind(const ChainNames& chain);
    ClientMeter bind_client(const std::string& client, const std::string& chain);

    void unknown_shape();

    // A call that was refused before it was known for which chain it was: its label is empty.
    void refused(std::size_t outcome);

    std::vector<ClientUsage> usage() const;
    const std::vector<std::string>& outcomes() const;

    // The Prometheus text exposition format 0.0.4.
    std::string render(const Gauges& gauges);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weir::telemetry
