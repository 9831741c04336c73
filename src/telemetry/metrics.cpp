#include "telemetry/metrics.hpp"

#include "telemetry/process_stats.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <sstream>
#include <utility>

namespace weir::telemetry {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

using Counter = std::atomic<std::uint64_t>;
using Counters = std::vector<Counter>;

void add(Counter& counter, std::uint64_t amount = 1) {
    counter.fetch_add(amount, std::memory_order_relaxed);
}

double value_of(const Counter& counter) {
    return static_cast<double>(counter.load(std::memory_order_relaxed));
}

// Upper bounds in microseconds: from a local answer to the slowest trace.
constexpr std::array<std::uint64_t, 18> kBounds = {
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

    ClientMetric::Histogram collect() const {
        ClientMetric::Histogram out;
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            out.sample_count += buckets_[i].load(std::memory_order_relaxed);
            const double bound = i < kBounds.size() ? static_cast<double>(kBounds[i]) / 1e6
                                                    : std::numeric_limits<double>::infinity();
            out.bucket.push_back({out.sample_count, bound});
        }
        out.sample_sum = value_of(sum_micros_) / 1e6;
        return out;
    }

  private:
    std::array<Counter, kBounds.size() + 1> buckets_{};  // the last one is +Inf
    Counter sum_micros_ = 0;
};

constexpr std::array<std::string_view, 2> kClasses = {"fast", "slow"};
constexpr std::array<std::string_view, 2> kScopes = {"upstream", "client"};
constexpr std::array<std::string_view, 4> kWriteOutcomes = {"accepted", "rejected", "unknown",
                                                            "pending"};
constexpr std::array<std::string_view, 7> kDisagreements = {
    "lag", "reorg", "regression", "implausible_head", "wrong_network", "transaction_hash", "other"};
constexpr std::array<std::string_view, 9> kStates = {"fit",          "lagging",      "wrong_chain",
                                                     "cooling_down", "quota_spent",  "auth_failed",
                                                     "unknown",      "circuit_open", "drained"};
// Whom the calls of an open gateway are counted for.
constexpr std::string_view kAnyone = "anonymous";

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
};

struct ChainCounters {
    ChainCounters(const MetricsLayout& layout, const MetricsLayout::Chain& chain)
        : calls(layout.methods.size() * layout.outcomes.size()),
          calls_of_anyone(layout.outcomes.size()) {
        for (std::size_t i = 0; i < chain.upstreams.size(); ++i) {
            upstreams.push_back(std::make_unique<UpstreamCounters>(layout.causes.size()));
        }
    }

    Counters calls;            // by method, then outcome
    Counters calls_of_anyone;  // by outcome
    std::array<Histogram, kClasses.size()> duration;
    std::array<Counter, kScopes.size()> rate_limited{};
    std::array<Counter, kWriteOutcomes.size()> writes{};
    std::array<Counter, kDisagreements.size()> disagreements{};
    std::vector<std::unique_ptr<UpstreamCounters>> upstreams;
};

// The families of one scrape.
class Page {
  public:
    void family(MetricType type, std::string name, std::string help) {
        families_.push_back({std::move(name), std::move(help), type, {}});
    }
    void counter(Labels labels, double value) {
        add_metric(std::move(labels)).counter.value = value;
    }
    void gauge(Labels labels, double value) { add_metric(std::move(labels)).gauge.value = value; }
    void histogram(Labels labels, const Histogram& value) {
        add_metric(std::move(labels)).histogram = value.collect();
    }
    std::string text() const {
        std::ostringstream out;
        prometheus::TextSerializer().Serialize(out, families_);
        return std::move(out).str();
    }

  private:
    ClientMetric& add_metric(Labels labels) {
        ClientMetric& metric = families_.back().metric.emplace_back();
        metric.label = std::move(labels);
        return metric;
    }

    std::vector<MetricFamily> families_;
};

void add_process(Page& page) {
    const ProcessStats stats = read_process_stats();
    page.family(MetricType::Counter, "process_cpu_seconds_total",
                "User and system CPU time spent in seconds.");
    page.counter({}, stats.cpu_seconds);
    const auto gauge = [&page](const char* name, const char* help, double value) {
        page.family(MetricType::Gauge, name, help);
        page.gauge({}, value);
    };
    gauge("process_start_time_seconds", "Start time since the Unix epoch in seconds.",
          stats.start_time_seconds);
    gauge("process_resident_memory_bytes", "Resident memory size in bytes.",
          static_cast<double>(stats.resident_bytes));
    gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.",
          static_cast<double>(stats.virtual_bytes));
    gauge("process_open_fds", "Open file descriptors.", static_cast<double>(stats.open_fds));
    gauge("process_max_fds", "Most file descriptors that may be open.",
          static_cast<double>(stats.max_fds));
    gauge("process_threads", "Threads of the process.", static_cast<double>(stats.threads));
}

}  // namespace

struct Metrics::Impl {
    explicit Impl(const MetricsLayout& names) : layout(names) {
        if (layout.methods.empty()) {
            layout.methods.emplace_back("other");
        }
        for (const MetricsLayout::Chain& chain : layout.chains) {
            chains.push_back(std::make_unique<ChainCounters>(layout, chain));
        }
    }

    ChainCounters* chain(std::size_t index) const {
        return index < chains.size() ? chains[index].get() : nullptr;
    }
    UpstreamCounters* upstream(std::size_t chain_index, std::size_t index) const {
        const ChainCounters* owner = chain(chain_index);
        return owner != nullptr && index < owner->upstreams.size() ? owner->upstreams[index].get()
                                                                   : nullptr;
    }

    // Calls `add_series(chain label, counters, layout)` for each chain.
    template <class F>
    void each_chain(F add_series) const {
        for (std::size_t i = 0; i < chains.size(); ++i) {
            add_series(ClientMetric::Label{"chain", layout.chains[i].name}, *chains[i]);
        }
    }

    template <std::size_t N>
    void add_labelled(Page& page, std::array<Counter, N> ChainCounters::* counters,
                      const char* label, const std::array<std::string_view, N>& words) const {
        each_chain([&](const ClientMetric::Label& chain_label, const ChainCounters& of_chain) {
            for (std::size_t i = 0; i < N; ++i) {
                page.counter({chain_label, {label, std::string(words[i])}},
                             value_of((of_chain.*counters)[i]));
            }
        });
    }

    void add_calls(Page& page) const;
    void add_requests(Page& page) const;
    void add_upstreams(Page& page) const;
    void add_units(Page& page, const Gauges& gauges) const;
    void add_gauges(Page& page, const Gauges& gauges) const;
    void add_upstream_gauges(Page& page, const Gauges& gauges) const;
    void add_states(Page& page, const Gauges& gauges) const;

    MetricsLayout layout;
    std::vector<std::unique_ptr<ChainCounters>> chains;
    Counter unknown_shapes = 0;
};

void Metrics::Impl::add_calls(Page& page) const {
    const std::size_t outcomes = layout.outcomes.size();
    page.family(MetricType::Counter, "weir_requests_total",
                "Calls answered, by method and outcome.");
    each_chain([&](const ClientMetric::Label& chain_label, const ChainCounters& of_chain) {
        for (std::size_t i = 0; i < of_chain.calls.size(); ++i) {
            const double value = value_of(of_chain.calls[i]);
            if (i < outcomes || value != 0) {  // method 0 stands for every one not seen yet
                page.counter({chain_label,
                              {"method", layout.methods[i / outcomes]},
                              {"outcome", layout.outcomes[i % outcomes]}},
                             value);
            }
        }
    });
    page.family(MetricType::Counter, "weir_client_calls_total",
                "Calls answered, by client and outcome.");
    each_chain([&](const ClientMetric::Label& chain_label, const ChainCounters& of_chain) {
        for (std::size_t i = 0; i < outcomes; ++i) {
            page.counter(
                {{"client", std::string(kAnyone)}, chain_label, {"outcome", layout.outcomes[i]}},
                value_of(of_chain.calls_of_anyone[i]));
        }
    });
    page.family(MetricType::Counter, "weir_client_units_total",
                "Provider units spent for a client.");
    each_chain([&](const ClientMetric::Label& chain_label, const ChainCounters& of_chain) {
        double units = 0;
        for (const auto& upstream : of_chain.upstreams) {
            units += value_of(upstream->units);
        }
        page.counter({{"client", std::string(kAnyone)}, chain_label}, units);
    });
}

void Metrics::Impl::add_requests(Page& page) const {
    page.family(MetricType::Histogram, "weir_request_duration_seconds",
                "Time from a request's head to the end of its answer.");
    each_chain([&](const ClientMetric::Label& chain_label, const ChainCounters& of_chain) {
        for (std::size_t i = 0; i < kClasses.size(); ++i) {
            page.histogram({chain_label, {"class", std::string(kClasses[i])}},
                           of_chain.duration[i]);
        }
    });
    page.family(MetricType::Counter, "weir_rate_limited_total",
                "Calls answered with 429, by whose limit it was.");
    add_labelled(page, &ChainCounters::rate_limited, "scope", kScopes);
    page.family(MetricType::Counter, "weir_writes_total", "Transactions sent, by outcome.");
    add_labelled(page, &ChainCounters::writes, "outcome", kWriteOutcomes);
    page.family(MetricType::Counter, "weir_chain_disagreements_total",
                "Times that upstreams contradicted each other or themselves.");
    each_chain([&](const ClientMetric::Label& chain_label, const ChainCounters& of_chain) {
        for (std::size_t i = 0; i < kDisagreements.size(); ++i) {
            page.counter({{"kind", std::string(kDisagreements[i])}, chain_label},
                         value_of(of_chain.disagreements[i]));
        }
    });
    page.family(MetricType::Counter, "weir_unknown_shapes_total",
                "Upstream answers that no rule knows.");
    page.counter({}, value_of(unknown_shapes));
}

void Metrics::Impl::add_upstreams(Page& page) const {
    const auto each_upstream = [this](auto add_series) {
        for (std::size_t c = 0; c < chains.size(); ++c) {
            for (std::size_t u = 0; u < chains[c]->upstreams.size(); ++u) {
                const Labels labels = {{"chain", layout.chains[c].name},
                                       {"upstream", layout.chains[c].upstreams[u]}};
                add_series(labels, *chains[c]->upstreams[u]);
            }
        }
    };
    page.family(MetricType::Counter, "weir_upstream_attempts_total",
                "Messages sent to an upstream, by what came of them.");
    each_upstream([&](const Labels& labels, const UpstreamCounters& upstream) {
        for (std::size_t cause = 0; cause < upstream.attempts.size(); ++cause) {
            Labels with_cause = labels;
            with_cause.push_back({"cause", layout.causes[cause]});
            page.counter(std::move(with_cause), value_of(upstream.attempts[cause]));
        }
    });
    page.family(MetricType::Histogram, "weir_upstream_duration_seconds",
                "Time from sending a message to an upstream to the end of its reply.");
    each_upstream([&](const Labels& labels, const UpstreamCounters& upstream) {
        page.histogram(labels, upstream.duration);
    });
}

// What clients' calls cost is counted here, what the gateway's own questions cost by the pools.
void Metrics::Impl::add_units(Page& page, const Gauges& gauges) const {
    page.family(MetricType::Counter, "weir_upstream_units_total",
                "Provider units spent at an upstream, the gateway's own questions included.");
    for (std::size_t c = 0; c < chains.size(); ++c) {
        for (std::size_t u = 0; u < chains[c]->upstreams.size(); ++u) {
            const bool known = c < gauges.chains.size() && u < gauges.chains[c].upstreams.size();
            const std::uint64_t probes = known ? gauges.chains[c].upstreams[u].probe_units : 0;
            page.counter(
                {{"chain", layout.chains[c].name}, {"upstream", layout.chains[c].upstreams[u]}},
                value_of(chains[c]->upstreams[u]->units) + static_cast<double>(probes));
        }
    }
}

void Metrics::Impl::add_upstream_gauges(Page& page, const Gauges& gauges) const {
    using Read = double (*)(const UpstreamGauges&);
    const auto family = [&](const char* name, const char* help, Read read) {
        page.family(MetricType::Gauge, name, help);
        for (std::size_t c = 0; c < layout.chains.size(); ++c) {
            for (std::size_t u = 0; u < layout.chains[c].upstreams.size(); ++u) {
                const bool known =
                    c < gauges.chains.size() && u < gauges.chains[c].upstreams.size();
                page.gauge(
                    {{"chain", layout.chains[c].name}, {"upstream", layout.chains[c].upstreams[u]}},
                    read(known ? gauges.chains[c].upstreams[u] : UpstreamGauges{}));
            }
        }
    };
    family("weir_upstream_head_number", "Number of the newest block the upstream has shown.",
           [](const UpstreamGauges& of) { return static_cast<double>(of.head); });
    family("weir_upstream_head_lag_blocks", "Blocks that the upstream is behind its chain's head.",
           [](const UpstreamGauges& of) { return static_cast<double>(of.head_lag); });
    family("weir_upstream_fit", "1 while the upstream may serve calls.",
           [](const UpstreamGauges& of) { return of.fit ? 1.0 : 0.0; });
    family("weir_upstream_allowance_used_ratio",
           "Share of the configured daily allowance that is spent; 0 without one.",
           [](const UpstreamGauges& of) { return of.allowance_used; });
    family("weir_upstream_score", "How much the upstream is preferred within its tier.",
           [](const UpstreamGauges& of) { return of.score; });
    family("weir_upstream_cooldown_seconds", "Seconds until the upstream may be asked again.",
           [](const UpstreamGauges& of) { return of.cooldown_seconds; });
}

void Metrics::Impl::add_states(Page& page, const Gauges& gauges) const {
    page.family(MetricType::Gauge, "weir_upstream_state",
                "1 for the state that the upstream is in, 0 for the others.");
    for (std::size_t c = 0; c < layout.chains.size() && c < gauges.chains.size(); ++c) {
        const auto& upstreams = gauges.chains[c].upstreams;
        for (std::size_t u = 0; u < layout.chains[c].upstreams.size() && u < upstreams.size();
             ++u) {
            for (const std::string_view state : kStates) {
                page.gauge({{"chain", layout.chains[c].name},
                            {"upstream", layout.chains[c].upstreams[u]},
                            {"state", std::string(state)}},
                           upstreams[u].state == state ? 1 : 0);
            }
        }
    }
}

void Metrics::Impl::add_gauges(Page& page, const Gauges& gauges) const {
    add_upstream_gauges(page, gauges);
    add_states(page, gauges);
    page.family(MetricType::Gauge, "weir_chain_head_number",
                "Number of the block that the gateway takes for the chain's head.");
    for (std::size_t c = 0; c < layout.chains.size(); ++c) {
        const std::uint64_t head = c < gauges.chains.size() ? gauges.chains[c].head : 0;
        page.gauge({{"chain", layout.chains[c].name}}, static_cast<double>(head));
    }
    page.family(MetricType::Gauge, "weir_connections", "Open client connections.");
    page.gauge({}, static_cast<double>(gauges.connections));
    page.family(MetricType::Gauge, "weir_in_flight", "Requests being served.");
    page.gauge({}, static_cast<double>(gauges.in_flight));
    page.family(MetricType::Gauge, "weir_build_info", "1, labelled with the version.");
    page.gauge({{"version", layout.version}}, 1);
}

Metrics::Metrics(const MetricsLayout& layout) : impl_(std::make_unique<Impl>(layout)) {}

Metrics::~Metrics() = default;

void Metrics::call(std::size_t chain, std::size_t method, std::size_t outcome) {
    ChainCounters* const of_chain = impl_->chain(chain);
    if (of_chain == nullptr || outcome >= impl_->layout.outcomes.size()) {
        return;
    }
    const std::size_t known = method < impl_->layout.methods.size() ? method : 0;
    add(of_chain->calls[known * impl_->layout.outcomes.size() + outcome]);
    add(of_chain->calls_of_anyone[outcome]);
}

void Metrics::request(std::size_t chain, TimeClass time_class, core::Duration duration) {
    if (ChainCounters* const of_chain = impl_->chain(chain)) {
        of_chain->duration[static_cast<std::size_t>(time_class)].observe(duration);
    }
}

void Metrics::attempt(std::size_t chain, std::size_t upstream, std::size_t cause,
                      core::Duration duration) {
    UpstreamCounters* const of_upstream = impl_->upstream(chain, upstream);
    if (of_upstream != nullptr && cause < of_upstream->attempts.size()) {
        add(of_upstream->attempts[cause]);
        of_upstream->duration.observe(duration);
    }
}

void Metrics::rate_limited(std::size_t chain, Scope scope) {
    if (ChainCounters* const of_chain = impl_->chain(chain)) {
        add(of_chain->rate_limited[static_cast<std::size_t>(scope)]);
    }
}

void Metrics::write(std::size_t chain, std::string_view outcome) {
    ChainCounters* const of_chain = impl_->chain(chain);
    const auto* const known = std::find(kWriteOutcomes.begin(), kWriteOutcomes.end(), outcome);
    if (of_chain != nullptr && known != kWriteOutcomes.end()) {
        add(of_chain->writes[static_cast<std::size_t>(known - kWriteOutcomes.begin())]);
    }
}

void Metrics::disagreement(std::size_t chain, std::string_view kind) {
    if (ChainCounters* const of_chain = impl_->chain(chain)) {
        add(of_chain->disagreements[place_of(kDisagreements, kind)]);
    }
}

void Metrics::unknown_shape() { add(impl_->unknown_shapes); }

void Metrics::units(std::size_t chain, std::size_t upstream, std::uint64_t units) {
    if (UpstreamCounters* const of_upstream = impl_->upstream(chain, upstream)) {
        add(of_upstream->units, units);
    }
}

std::string Metrics::render(const Gauges& gauges) {
    Page page;
    impl_->add_calls(page);
    impl_->add_requests(page);
    impl_->add_upstreams(page);
    impl_->add_units(page, gauges);
    impl_->add_gauges(page, gauges);
    add_process(page);
    return page.text();
}

}  // namespace weir::telemetry
