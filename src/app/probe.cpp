#include "app/probe.hpp"

#include "app/check.hpp"
#include "app/probe_report.hpp"
#include "config/load.hpp"
#include "probe/asker.hpp"
#include "probe/endpoint.hpp"
#include "runtime/task_group.hpp"
#include "upstream/http_transport.hpp"

#include <map>
#include <unistd.h>

namespace weir::app {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);  // for one answer

// The URLs as one chain, so that they are judged and reached as upstreams are.
config::LoadResult load_urls(const std::vector<std::string>& urls,
                             const config::Environment& environment) {
    config::Flags flags;
    flags.chain_id = "1";
    flags.upstreams = urls;
    config::LoadResult loaded = config::from_flags(flags, environment);
    if (!loaded) {
        std::vector<config::Problem> problems = loaded.error();
        for (config::Problem& problem : problems) {
            constexpr std::string_view kFlag = "--upstream";
            if (problem.path.starts_with(kFlag)) {
                problem.path.replace(0, kFlag.size(), "URL");
            }
        }
        return problems;
    }
    loaded->chains.front().timeouts.connect = core::seconds(5);
    return loaded;
}

std::string endpoint_label(const config::Url& url) {
    const bool usual = url.port == (url.tls ? 443 : 80);
    const bool is_ipv6 = url.label.find(':') != std::string::npos;
    const std::string host = is_ipv6 ? "[" + url.label + "]" : url.label;
    return usual ? host : host + ":" + std::to_string(url.port);
}

// One line that is written over on a terminal, a line for each topic elsewhere.
class Progress {
  public:
    Progress(std::ostream& err, std::string endpoint)
        : err_(err), endpoint_(std::move(endpoint)), terminal_(isatty(STDERR_FILENO) != 0) {}

    void operator()(const probe::Question& question) {
        ++number_;
        if (terminal_) {
            err_ << "\r\x1b[K" << endpoint_ << ": request " << number_ << ", "
                 << to_string(question.topic) << std::flush;
        } else if (number_ == 1 || to_string(question.topic) != topic_) {
            err_ << endpoint_ << ": " << to_string(question.topic) << '\n';
        }
        topic_ = to_string(question.topic);
    }
    void end() {
        if (terminal_) {
            err_ << "\r\x1b[K" << std::flush;
        }
    }

  private:
    std::ostream& err_;
    const std::string endpoint_;
    const bool terminal_;
    unsigned number_ = 0;
    std::string_view topic_;
};

struct Probing {
    const config::Config& config;
    const Probe& options;
    std::ostream& out;
    std::ostream& err;
    runtime::Worker& worker;
    upstream::Transport& transport;
    std::vector<ProbeReport> reports = {};
};

runtime::Task<> probe_each(Probing& probing) {
    const config::Chain& chain = probing.config.chains.front();
    const routing::ProviderBook profiles(probing.config.providers);
    probe::Asker asker(probing.worker, probing.transport, probing.config.secrets);
    std::map<std::string, unsigned> names;
    for (std::size_t i = 0; i < chain.upstreams.size(); ++i) {
        const config::Upstream& upstream = chain.upstreams[i];
        probe::Endpoint endpoint;
        probe::Target target;
        target.upstream = i;
        target.timeout = kPatience;
        target.profile = &profiles.get(upstream.provider);
        const std::string label = endpoint_label(upstream.url);
        Progress progress(probing.err, label);
        const probe::Asker::Watcher watcher = std::ref(progress);
        co_await asker.examine(endpoint, target, watcher);
        progress.end();

        ProbeReport report;
        report.endpoint = label;
        report.provider = upstream.provider;
        report.name = proposed_name(upstream.provider, upstream.url.label);
        if (const unsigned before = names[report.name]++; before > 0) {
            report.name += "-" + std::to_string(before + 1);
        }
        report.url = showable_url(probing.options.urls[i]);
        report.requests = endpoint.requests();
        report.limited = endpoint.limited();
        report.cut_short = endpoint.was_cut_short();
        report.found = endpoint.findings();
        report.found.version = asker.presentable(report.found.version);
        if (probing.options.form == Probe::Form::table) {
            probing.out << as_table(report) << '\n' << std::flush;
        }
        probing.reports.push_back(std::move(report));
    }
    probing.worker.io.stop();  // idle connections would keep it running
}

// What was found as a configuration has it, one chain after the other.
void print_entries(const std::vector<ProbeReport>& reports, std::ostream& out) {
    std::map<std::uint64_t, std::string> chains;
    for (const ProbeReport& report : reports) {
        if (report.found.chain_id) {
            chains[*report.found.chain_id] += as_entry(report);
        }
    }
    for (const auto& [chain_id, entries] : chains) {
        out << "  - chain_id: " << chain_id << "\n    upstreams:\n" << entries;
    }
}

}  // namespace

int probe(const Probe& options, const config::Environment& environment, std::ostream& out,
          std::ostream& err) {
    const config::LoadResult config = load_urls(options.urls, environment);
    if (!config) {
        print(config.error(), err);
        return 2;
    }
    runtime::SystemClock clock;
    runtime::SystemRandom random;
    runtime::MemoryBudget budget(config->server.max_buffered);
    runtime::Worker worker(0, clock, random, budget);
    const auto transport = upstream::HttpTransport::create(worker, config->chains);
    if (!transport) {
        err << "weir: " << transport.error().message << '\n';
        return 1;
    }
    err << "weir probe: at most " << probe::Examination::kMostRequests
        << " requests to each endpoint, arrays of up to " << probe::BatchSearch::kMost
        << " calls among them\n";
    Probing probing{*config, options, out, err, worker, **transport};
    runtime::TaskGroup tasks(worker.io);
    tasks.spawn(probe_each(probing));
    worker.io.run();
    if (options.form == Probe::Form::json) {
        out << as_json(probing.reports) << '\n';
    } else {
        print_entries(probing.reports, out);
    }
    const bool all = std::all_of(probing.reports.begin(), probing.reports.end(),
                                 [](const auto& each) { return each.found.chain_id.has_value(); });
    return all ? 0 : 1;
}

}  // namespace weir::app
