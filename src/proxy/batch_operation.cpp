#include "proxy/batch_operation.hpp"

#include "runtime/task_group.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace weir::proxy {
namespace {

using Answers = std::vector<std::optional<Answer>>;

// Calls of one batch that are under way at the same time.
constexpr std::size_t kSideBySide = 16;

bool goes_in_order(const CallPlan& plan) {
    return !plan.refusal &&
           (plan.access() == routing::Access::write || plan.access() == routing::Access::broadcast);
}

// The places of the calls still to be run; shared by the tasks that run them.
struct Queue {
    std::vector<std::size_t> places;
    std::size_t next = 0;
};

runtime::Task<> run_queue(const RequestScope& scope, std::span<const CallPlan> plans, Queue& queue,
                          Answers& answers) {
    // Nothing more is sent for a client that is gone.
    while (queue.next < queue.places.size() && !scope.client.gone()) {
        const std::size_t place = queue.places[queue.next++];
        Answer answer = co_await run_call(scope, plans[place]);
        answer.compact();
        answers[place].emplace(std::move(answer));
    }
}

}  // namespace

runtime::Task<Answers> run_batch(const RequestScope& scope, std::span<const CallPlan> plans) {
    Answers answers(plans.size());
    Queue writes;
    Queue others;
    for (std::size_t place = 0; place < plans.size(); ++place) {
        if (!plans[place].call->is_notification() ||
            plans[place].call->fault != jsonrpc::CallFault::none) {
            (goes_in_order(plans[place]) ? writes : others).places.push_back(place);
        }
    }
    runtime::TaskGroup group(scope.services.worker.io);
    if (!writes.places.empty()) {
        group.spawn(run_queue(scope, plans, writes, answers));
    }
    const std::size_t runners = std::min(kSideBySide, others.places.size());
    for (std::size_t i = 0; i < runners; ++i) {
        group.spawn(run_queue(scope, plans, others, answers));
    }
    co_await group.join();
    co_return answers;
}

}  // namespace weir::proxy
