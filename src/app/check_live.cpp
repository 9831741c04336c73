#include "app/check.hpp"
#include "probe/asker.hpp"
#include "probe/fitness.hpp"
#include "runtime/task_group.hpp"
#include "upstream/http_transport.hpp"

#include <algorithm>
#include <deque>

namespace weir::app {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);  // for one answer

// One upstream and what is asked of it.
struct Subject {
    Subject(const config::Chain& chain, const config::Upstream& upstream, const std::string& path)
        : label(path + " (" + upstream.name + ")"),
          fitness(chain, upstream, path,
                  std::min(upstream.batch.max_calls, chain.batch.max_upstream_calls)) {}

    std::string label;
    probe::Fitness fitness;
    probe::Target target;
};

runtime::Task<> examine(probe::Asker& asker, Subject& subject) {
    const probe::Asker::Watcher nobody = [](const probe::Question&) {};
    co_await asker.examine(subject.fitness, subject.target, nobody);
}

runtime::Task<> examine_all(runtime::Worker& worker, probe::Asker& asker,
                            std::deque<Subject>& subjects) {
    runtime::TaskGroup each(worker.io);
    for (Subject& subject : subjects) {
        each.spawn(examine(asker, subject));
    }
    co_await each.join();
    worker.io.stop();  // idle connections would keep it running
}

void print(const Subject& subject, std::ostream& out, std::ostream& err) {
    for (const config::Problem& problem : subject.fitness.problems()) {
        err << to_string(problem) << '\n';
    }
    if (const auto& head = subject.fitness.head()) {
        const auto latency = std::chrono::duration_cast<core::milliseconds>(
            subject.fitness.latency().value_or(core::Duration::zero()));
        out << subject.label << ": head " << head->number << ", " << subject.fitness.head_age()
            << " s old; answered in " << latency.count() << " ms\n";
    }
}

}  // namespace

std::optional<std::size_t> check_live(const config::Config& config, std::ostream& out,
                                      std::ostream& err) {
    runtime::SystemClock clock;
    runtime::SystemRandom random;
    runtime::MemoryBudget budget(config.server.max_buffered);
    runtime::Worker worker(0, clock, random, budget);
    const auto transport = upstream::HttpTransport::create(worker, config.chains);
    if (!transport) {
        err << transport.error().message << '\n';
        return std::nullopt;
    }
    const routing::ProviderBook profiles(config.providers);
    probe::Asker asker(worker, **transport, config.secrets);
    std::deque<Subject> subjects;
    for (std::size_t c = 0; c < config.chains.size(); ++c) {
        for (std::size_t u = 0; u < config.chains[c].upstreams.size(); ++u) {
            const config::Upstream& upstream = config.chains[c].upstreams[u];
            Subject& subject = subjects.emplace_back(
                config.chains[c], upstream,
                "chains[" + std::to_string(c) + "].upstreams[" + std::to_string(u) + "]");
            subject.target = {c, u, kPatience, &profiles.get(upstream.provider)};
        }
    }
    err << "asking " << subjects.size() << (subjects.size() == 1 ? " upstream" : " upstreams")
        << ", at most " << probe::Fitness::kMostRequests << " requests to each\n";
    runtime::TaskGroup tasks(worker.io);
    tasks.spawn(examine_all(worker, asker, subjects));
    worker.io.run();
    std::size_t problems = 0;
    for (const Subject& subject : subjects) {
        print(subject, out, err);
        problems += subject.fitness.problems().size();
    }
    return problems;
}

}  // namespace weir::app
