// The part of a batch that goes call by call.
#include "proxy/batch_run.hpp"
#include "proxy/write_operation.hpp"

#include <utility>

namespace weir::proxy {

void BatchOperation::add_alone(std::size_t place, std::optional<Earlier> earlier) {
    const bool slow =
        !plans_[place].refusal && plans_[place].traits->time_class == routing::TimeClass::slow;
    Queue& queue = slow ? slow_ : fast_;
    queue.waiting.push_back({place, std::move(earlier)});
    start_alone(queue);
}

void BatchOperation::start_alone(Queue& queue) {
    if (queue.runners < kSideBySide) {
        ++queue.runners;
        tasks_.spawn(run_alone(queue));
    }
}

// Nothing more is sent for a client that is gone.
runtime::Task<> BatchOperation::run_alone(Queue& queue) {
    while (!queue.waiting.empty() && !scope_.client.gone()) {
        Alone next = std::move(queue.waiting.front());
        queue.waiting.pop_front();
        if (answers_[next.place]) {
            continue;  // by its late array
        }
        if (states_[next.place].array != nullptr) {
            co_await run_beside(std::move(next));
        } else {
            co_await run_one(std::move(next), scope_.client);
        }
    }
    --queue.runners;
}

// Ends when its array brings the answer.
runtime::Task<> BatchOperation::run_beside(Alone alone) {
    State& state = states_[alone.place];
    Companion companion(scope_.client);
    state.alone = &companion;
    co_await run_one(std::move(alone), companion.presence);
    state.alone = nullptr;
}

runtime::Task<> BatchOperation::run_one(Alone alone, ClientPresence& client) {
    CallPlan plan = plans_[alone.place];
    plan.waited += states_[alone.place].waited;
    RequestScope scope = scope_.with(client);
    if (alone.earlier) {
        plan.earlier = &*alone.earlier;
        scope.snapshot = scope.chain.pool.snapshots().get();
    }
    Answer answer = co_await run_call(scope, plan);
    answer.compact(held_);
    settle(alone.place, std::move(answer));
}

void BatchOperation::settle(std::size_t place, Answer&& answer) {
    Array* const array = states_[place].array;
    if (answers_[place]) {
        messages_ += answer.attempts;
    } else if (array != nullptr && answer.given_up) {
        left_over_.emplace(place, std::move(answer));
    } else {
        answers_[place].emplace(std::move(answer));
        if (array != nullptr) {
            array->on_answer();
        }
    }
}

runtime::Task<> BatchOperation::run_writes() {
    WriteCourse course;
    RequestScope scope = scope_;
    scope.course = &course;
    for (const std::size_t place : writes_) {
        if (scope_.client.gone()) {
            break;
        }
        scope.snapshot = scope_.chain.pool.snapshots().get();
        Answer answer = co_await run_call(scope, plans_[place]);
        answer.compact(held_);
        settle(place, std::move(answer));
    }
}

}  // namespace weir::proxy
