#include "telemetry/metrics.hpp"

#include "telemetry/counters.hpp"
#include "telemetry/process_stats.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

namespace weir::telemetry {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

ClientMetric::Histogram collect(const Histogram& histogram) {
    ClientMetric::Histogram out;
    const auto& buckets = histogram.buckets();
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        out.sample_count += buckets[i].load(std::memory_order_relaxed);
        const double bound = i < kBounds.size() ? static_cast<double>(kBounds[i]) / 1e6
                                                : std::numeric_limits<double>::infinity();
        out.bucket.push_back({out.sample_count, bound});
    }
    out.sample_sum = value_of(histogram.sum_micros()) / 1e6;
    return out;
}

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
        add_metric(std::move(labels)).histogram = collect(value);
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
        refused = Counters(layout.outcomes.size());
    }

    // Calls `add_series(chain label, counters)` for each chain.
    template <class F>
    void each_chain(F add_series) const {
        for (const auto& [name, counters] : chains) {
            add_series(ClientMetric::Label{"chain", name}, counters);
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
    void add_clients(Page& page) const;
    void add_requests(Page& page) const;
    void add_upstreams(Page& page) const;
    void add_units(Page& page, const Gauges& gauges);
    void add_gauges(Page& page, const Gauges& gauges) const;

    MetricsLayout layout;
    mutable std::mutex mutex;  // guards the maps; what they hold never moves and never goes
    std::map<std::string, ChainCounters> chains;
    std::map<std::pair<std::string, std::string>, ClientMeter::Counters> clients;  // with the chain
    Counter unknown_shapes = 0;
    Counters refused;  // by outcome, of no chain
};

void Metrics::Impl::add_calls(Page& page) const {
    const std::size_t outcomes = layout.outcomes.size();
    page.family(MetricType::Counter, "weir_requests_total", "Calls ended, by method and outcome.");
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
    for (std::size_t i = 0; i < outcomes; ++i) {
        page.counter(
            {{"chain", ""}, {"method", layout.methods[0]}, {"outcome", layout.outcomes[i]}},
            value_of(refused[i]));
    }
}

void Metrics::Impl::add_clients(Page& page) const {
    page.family(MetricType::Counter, "weir_client_calls_total",
                "Calls ended, by client and outcome.");
    for (const auto& [who, counters] : clients) {
        for (std::size_t i = 0; i < counters.calls.size(); ++i) {
            const double value = value_of(counters.calls[i]);
            if (i == 0 || value != 0) {
                page.counter(
                    {{"client", who.first}, {"chain", who.second}, {"outcome", layout.outcomes[i]}},
                    value);
            }
        }
    }
    page.family(MetricType::Counter, "weir_client_units_total",
                "Provider units spent for a client.");
    for (const auto& [who, counters] : clients) {
        page.counter({{"client", who.first}, {"chain", who.second}}, value_of(counters.units));
    }
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
        each_chain([&](const ClientMetric::Label& chain_label, const ChainCounters& of_chain) {
            for (const auto& [name, counters] : of_chain.upstreams) {
                add_series(Labels{chain_label, {"upstream", name}}, counters);
            }
        });
    };
    page.family(MetricType::Counter, "weir_upstream_attempts_total",
                "Messages sent to an upstream for clients' calls, by what came of them.");
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
void Metrics::Impl::add_units(Page& page, const Gauges& gauges) {
    for (const Gauges::Chain& chain : gauges.chains) {
        const auto of_chain = chains.find(chain.name);
        for (const UpstreamGauges& upstream : chain.upstreams) {
            if (of_chain == chains.end() || !of_chain->second.upstreams.contains(upstream.name)) {
                continue;
            }
            UpstreamCounters& known = of_chain->second.upstreams.at(upstream.name);
            const bool anew = upstream.probe_units < known.probe_units_said;
            known.probe_units += upstream.probe_units - (anew ? 0 : known.probe_units_said);
            known.probe_units_said = upstream.probe_units;
        }
    }
    page.family(MetricType::Counter, "weir_upstream_units_total",
                "Provider units spent at an upstream, the gateway's own questions included.");
    each_chain([&](const ClientMetric::Label& chain_label, const ChainCounters& of_chain) {
        for (const auto& [name, counters] : of_chain.upstreams) {
            page.counter({chain_label, {"upstream", name}},
                         value_of(counters.units) + static_cast<double>(counters.probe_units));
        }
    });
}

void add_upstream_gauges(Page& page, const Gauges& gauges) {
    using Read = double (*)(const UpstreamGauges&);
    const auto family = [&](const char* name, const char* help, Read read) {
        page.family(MetricType::Gauge, name, help);
        for (const Gauges::Chain& chain : gauges.chains) {
            for (const UpstreamGauges& upstream : chain.upstreams) {
                page.gauge({{"chain", chain.name}, {"upstream", upstream.name}}, read(upstream));
            }
        }
    };
    family("weir_upstream_head_number", "Number of the newest block the upstream has shown.",
           [](const UpstreamGauges& of) { return static_cast<double>(of.head); });
    family("weir_upstream_head_lag_blocks", "Blocks that the upstream is behind its chain's head.",
           [](const UpstreamGauges& of) { return static_cast<double>(of.head_lag); });
    family("weir_upstream_fit", "1 while the upstream may serve calls.",
           [](const UpstreamGauges& of) { return of.fit ? 1.0 : 0.0; });
    family("weir_upstream_apart",
           "1 while the upstream's blocks are other ones than most others have.",
           [](const UpstreamGauges& of) { return of.apart ? 1.0 : 0.0; });
    family("weir_upstream_allowance_used_ratio",
           "Share of the configured daily allowance that is spent; 0 without one.",
           [](const UpstreamGauges& of) { return of.allowance_used; });
    family("weir_upstream_score", "How much the upstream is preferred within its tier.",
           [](const UpstreamGauges& of) { return of.score; });
    family("weir_upstream_cooldown_seconds", "Seconds until the upstream may be asked again.",
           [](const UpstreamGauges& of) { return of.cooldown_seconds; });
}

void add_states(Page& page, const Gauges& gauges) {
    page.family(MetricType::Gauge, "weir_upstream_state",
                "1 for the state that the upstream is in, 0 for the others.");
    for (const Gauges::Chain& chain : gauges.chains) {
        for (const UpstreamGauges& upstream : chain.upstreams) {
            for (const std::string_view state : kStates) {
                page.gauge({{"chain", chain.name},
                            {"upstream", upstream.name},
                            {"state", std::string(state)}},
                           upstream.state == state ? 1 : 0);
            }
        }
    }
}

void Metrics::Impl::add_gauges(Page& page, const Gauges& gauges) const {
    add_upstream_gauges(page, gauges);
    add_states(page, gauges);
    page.family(MetricType::Gauge, "weir_chain_head_number",
                "Number of the block that the gateway takes for the chain's head.");
    for (const Gauges::Chain& chain : gauges.chains) {
        page.gauge({{"chain", chain.name}}, static_cast<double>(chain.head));
    }
    page.family(MetricType::Gauge, "weir_connections", "Open client connections.");
    page.gauge({}, static_cast<double>(gauges.connections));
    page.family(MetricType::Gauge, "weir_in_flight", "Requests being served.");
    page.gauge({}, static_cast<double>(gauges.in_flight));
    page.family(MetricType::Counter, "weir_log_lines_lost_total",
                "Log lines that nobody took from the process in time.");
    page.counter({}, static_cast<double>(gauges.log_lines_lost));
    page.family(MetricType::Gauge, "weir_build_info", "1, labelled with the version.");
    page.gauge({{"version", layout.version}}, 1);
}

Metrics::Metrics(const MetricsLayout& layout) : impl_(std::make_unique<Impl>(layout)) {}

Metrics::~Metrics() = default;

ChainMeter Metrics::bind(const ChainNames& chain) {
    const std::lock_guard lock(impl_->mutex);
    ChainCounters& counters = impl_->chains.try_emplace(chain.name, impl_->layout).first->second;
    auto handles =
        std::make_unique<ChainMeter::Handles>(ChainMeter::Handles{impl_->layout, counters, {}});
    for (const std::string& upstream : chain.upstreams) {
        handles->upstreams.push_back(
            &counters.upstreams.try_emplace(upstream, impl_->layout.causes.size()).first->second);
    }
    return ChainMeter(std::move(handles));
}

ClientMeter Metrics::bind_client(const std::string& client, const std::string& chain) {
    const std::lock_guard lock(impl_->mutex);
    ClientMeter meter;
    meter.counters_ =
        &impl_->clients.try_emplace(std::pair(client, chain), impl_->layout.outcomes.size())
             .first->second;
    return meter;
}

void Metrics::unknown_shape() { add(impl_->unknown_shapes); }

void Metrics::refused(std::size_t outcome) {
    if (outcome < impl_->refused.size()) {
        add(impl_->refused[outcome]);
    }
}

std::vector<ClientUsage> Metrics::usage() const {
    const std::lock_guard lock(impl_->mutex);
    std::vector<ClientUsage> all;
    for (const auto& [who, counters] : impl_->clients) {
        ClientUsage& usage = all.emplace_back();
        usage.client = who.first;
        usage.chain = who.second;
        usage.calls.assign(counters.calls.begin(), counters.calls.end());
        usage.units = counters.units.load(std::memory_order_relaxed);
    }
    return all;
}

const std::vector<std::string>& Metrics::outcomes() const { return impl_->layout.outcomes; }

std::string Metrics::render(const Gauges& gauges) {
    Page page;
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->add_calls(page);
        impl_->add_clients(page);
        impl_->add_requests(page);
        impl_->add_upstreams(page);
        impl_->add_units(page, gauges);
        impl_->add_gauges(page, gauges);
    }
    add_process(page);
    return page.text();
}

}  // namespace weir::telemetry
