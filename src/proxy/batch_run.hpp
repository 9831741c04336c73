// What runs a batch, for its two parts: arrays, and calls that go alone.
#pragma once

#include "proxy/batch_operation.hpp"
#include "runtime/task_group.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weir::proxy {

// Of one batch, calls of one time class that are under way alone at the same time; and arrays to
// one upstream.
inline constexpr std::size_t kSideBySide = 16;

// A client that can be told to leave before the real one does.
class Companion final : private ClientPresence::Listener {
  public:
    explicit Companion(ClientPresence& client) : client_(client) { client_.add(*this); }
    Companion(const Companion&) = delete;
    Companion& operator=(const Companion&) = delete;
    ~Companion() { client_.remove(*this); }

    ClientPresence presence;

  private:
    void on_client_gone() override { presence.leave(); }

    ClientPresence& client_;
};

class BatchOperation {
  public:
    BatchOperation(const RequestScope& scope, std::span<const CallPlan> plans,
                   runtime::Charge& held)
        : scope_(scope),
          plans_(plans),
          held_(held),
          deadline_(scope.received + scope.chain.config.timeouts.request),
          answers_(plans.size()),
          states_(plans.size()),
          tasks_(scope.services.worker.io) {}

    runtime::Task<BatchResult> run() {
        begin();
        co_await tasks_.join();
        co_return BatchResult{std::move(answers_), messages_};
    }

  private:
    // The calls that one upstream is still to be sent in arrays, and the tasks that send them.
    struct Lane {
        routing::UpstreamIndex upstream = 0;
        std::deque<std::size_t> places;
        std::size_t size = 0;  // of an array, as planned
        std::size_t runners = 0;
        std::size_t late = 0;  // of these, with an array that is late
        std::size_t most_runners = 1;

        std::size_t timely() const { return runners - late; }
    };

    struct Alone {
        std::size_t place = 0;
        std::optional<Earlier> earlier;
    };

    // Those that go alone, of one time class: slow ones do not hold fast ones up.
    struct Queue {
        std::deque<Alone> waiting;
        std::size_t runners = 0;
    };

    class Array;

    // Of a call whose array is late, while that runs on.
    struct State {
        Array* array = nullptr;
        Companion* alone = nullptr;  // while it is asked elsewhere as well
        bool is_asked_alone = false;
        core::Duration waited{};  // for a place of its array
    };

    void begin();
    void begin_arrays(std::span<const std::size_t> riders, const routing::Tried& tried,
                      const routing::Tried& full = {});
    runtime::Task<> wait_for_place(std::vector<std::size_t> places, routing::Tried among);
    Lane& lane_of(routing::UpstreamIndex upstream, std::size_t most_runners);
    void start_runner(Lane& lane);
    runtime::Task<> run_lane(Lane& lane, std::optional<upstream::Permit> place);
    void fill(Lane& lane);
    upstream::BatchAdmission admit(const Lane& lane, std::optional<upstream::Permit> place) const;
    runtime::Task<> leave_out_unbound(routing::UpstreamIndex upstream,
                                      std::vector<std::size_t>& places);
    runtime::Task<Unanswered> send_array(Lane& lane, std::vector<std::size_t> places);
    void on_late(Array& array);
    void ask_alone_too(const Array& array, std::size_t place);
    void end_array(const std::vector<std::size_t>& places, Unanswered& left);
    void scatter(Lane& lane);
    void add_alone(std::size_t place, std::optional<Earlier> earlier = {});
    void start_alone(Queue& queue);
    runtime::Task<> run_alone(Queue& queue);
    runtime::Task<> run_one(Alone alone, ClientPresence& client);
    runtime::Task<> run_beside(Alone alone);
    void settle(std::size_t place, Answer&& answer);
    runtime::Task<> run_writes();

    upstream::CallKind kind_of(std::size_t place) const {
        return {*plans_[place].traits, plans_[place].call->method};
    }
    bool is_over() const {
        return scope_.client.gone() || scope_.services.worker.clock.now() >= deadline_;
    }

    const RequestScope& scope_;
    const std::span<const CallPlan> plans_;
    runtime::Charge& held_;
    const core::TimePoint deadline_;  // of all that ride
    Answers answers_;
    std::vector<State> states_;                // by place
    std::map<std::size_t, Answer> left_over_;  // failures, while an array may still do better
    std::deque<Lane> lanes_;
    Queue fast_;
    Queue slow_;
    std::vector<std::size_t> writes_;
    unsigned messages_ = 0;  // that no answer counts
    runtime::TaskGroup tasks_;
};

// An array under way. Its deadline entry is the time at which its calls are asked elsewhere too.
class BatchOperation::Array final : public runtime::DeadlineWheel::Entry,
                                    private ClientPresence::Listener {
  public:
    Array(BatchOperation& operation, Lane& from, std::vector<std::size_t> places)
        : Entry(operation.scope_.services.worker.deadlines),
          lane(from),
          group{.upstream = from.upstream,
                .plans = operation.plans_,
                .places = std::move(places),
                .deadline = operation.deadline_,
                .client = operation.scope_.client},
          operation_(operation),
          unanswered_(group.places.size()) {
        for (const std::size_t place : group.places) {
            State& state = operation_.states_[place];
            state = {.array = this, .waited = state.waited};
        }
        group.client.add(*this);
    }
    ~Array() override {
        group.client.remove(*this);
        for (const std::size_t place : group.places) {
            operation_.states_[place].array = nullptr;
        }
    }

    // One of its calls was answered elsewhere.
    void on_answer() {
        if (--unanswered_ == 0) {
            group.cancellation.cancel();
        }
    }

    Lane& lane;
    Group group;
    bool is_late = false;

  private:
    void on_deadline() override { operation_.on_late(*this); }
    void on_client_gone() override { group.cancellation.cancel(); }

    BatchOperation& operation_;
    std::size_t unanswered_;
};

}  // namespace weir::proxy
