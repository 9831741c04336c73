#include "proxy/batch_operation.hpp"

#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "routing/batch_plan.hpp"
#include "runtime/task_group.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

namespace weir::proxy {
namespace {

using routing::Tried;
using routing::UpstreamIndex;

// Of one batch, calls that are under way alone at the same time; and arrays to one upstream.
constexpr std::size_t kSideBySide = 16;

bool is_owed_an_answer(const CallPlan& plan) {
    return !plan.call->is_notification() || plan.call->fault != jsonrpc::CallFault::none;
}

bool goes_in_order(const CallPlan& plan) {
    return !plan.refusal &&
           (plan.access() == routing::Access::write || plan.access() == routing::Access::broadcast);
}

// A transaction that was broadcast here is looked up at the upstream that took it.
bool has_a_holder(const RequestScope& scope, const CallPlan& plan) {
    if (plan.call->method != "eth_getTransactionByHash" &&
        plan.call->method != "eth_getTransactionReceipt") {
        return false;
    }
    const auto hash = jsonrpc::plain_string(jsonrpc::element(plan.call->params, 0));
    return hash && scope.records.holder(scope.chain.index, core::to_lower(*hash)).has_value();
}

// Slow calls go alone, so that the others do not wait for them; and so do those that show the head,
// which may have to be asked again elsewhere.
bool may_ride(const RequestScope& scope, const CallPlan& plan) {
    return !plan.refusal && plan.access() == routing::Access::read && !plan.wants_pending &&
           plan.traits->time_class == routing::TimeClass::fast && !has_a_holder(scope, plan) &&
           (plan.head_call == HeadCall::none || scope.chain.config.upstreams.size() == 1);
}

class BatchOperation {
  public:
    BatchOperation(const RequestScope& scope, std::span<const CallPlan> plans)
        : scope_(scope),
          plans_(plans),
          now_(scope.services.worker.clock.now()),
          answers_(plans.size()),
          tasks_(scope.services.worker.io) {}

    runtime::Task<Answers> run() {
        begin();
        co_await tasks_.join();
        co_return std::move(answers_);
    }

  private:
    // The calls that one upstream is still to be sent in arrays, and the tasks that send them.
    struct Lane {
        UpstreamIndex upstream = 0;
        std::deque<std::size_t> places;
        std::size_t size = 0;  // of an array, as planned
        std::size_t runners = 0;
        std::size_t most_runners = 1;
    };

    struct Alone {
        std::size_t place = 0;
        Tried asked;  // in an array, in vain
        bool again = false;
    };

    void begin() {
        std::vector<std::size_t> riders;
        std::vector<std::size_t> writes;
        for (std::size_t place = 0; place < plans_.size(); ++place) {
            if (!is_owed_an_answer(plans_[place])) {
                continue;
            }
            if (goes_in_order(plans_[place])) {
                writes.push_back(place);
            } else if (may_ride(scope_, plans_[place])) {
                riders.push_back(place);
            } else {
                alone_.push_back({.place = place, .asked = {}, .again = false});
            }
        }
        if (!writes.empty()) {
            writes_ = std::move(writes);
            tasks_.spawn(run_writes());
        }
        begin_arrays(std::move(riders));
        start_alone();
    }

    void begin_arrays(std::vector<std::size_t> riders) {
        if (riders.size() < 2 || scope_.chain.config.batch.max_upstream_calls < 2) {
            add_alone(riders);
            return;
        }
        upstream::Pool& pool = scope_.chain.pool;
        std::vector<routing::BatchRoom> rooms =
            pool.batch_rooms(riders.size(), kind_of(riders.front()), now_);
        std::vector<std::size_t> messages;
        messages.reserve(rooms.size());
        for (const routing::BatchRoom& room : rooms) {
            messages.push_back(room.messages);
        }
        const routing::BatchPlan plan =
            routing::plan_batch(*scope_.snapshot, kinds_of(riders), std::move(rooms),
                                scope_.services.worker.random.next());
        add_alone(plan.alone);
        for (const routing::BatchGroup& group : plan.groups) {
            Lane& lane = lane_of(group.upstream, messages);
            lane.places.insert(lane.places.end(), group.places.begin(), group.places.end());
            lane.size = std::max(lane.size, group.places.size());
        }
        for (Lane& lane : lanes_) {
            start_runner(lane);
        }
    }

    // An array's nulls are not asked again: what newer blocks may hold is looked up at the head.
    static routing::BlockNeed block_of(const CallPlan& plan) {
        return plan.null_needs_head && plan.block.kind == routing::BlockNeed::Kind::any
                   ? routing::BlockNeed{.kind = routing::BlockNeed::Kind::latest}
                   : plan.block;
    }

    // Calls of one method and block have the same upstreams, and most batches have few of them.
    std::vector<routing::BatchKind> kinds_of(const std::vector<std::size_t>& riders) const {
        struct OfMethod {
            std::string_view method;
            routing::BlockNeed block;
            std::size_t kind;
        };
        std::vector<OfMethod> methods;
        std::vector<routing::BatchKind> kinds;
        for (const std::size_t place : riders) {
            const CallPlan& plan = plans_[place];
            const routing::BlockNeed block = block_of(plan);
            auto known = std::find_if(methods.begin(), methods.end(), [&](const OfMethod& each) {
                return each.block == block && each.method == plan.call->method;
            });
            if (known == methods.end()) {
                const routing::Need need{
                    .method = plan.call->method,
                    .traits = plan.traits,
                    .block = block,
                    .served = block.kind == routing::BlockNeed::Kind::latest
                                  ? scope_.chain.floor.number(scope_.snapshot->fall_backs)
                                  : 0};
                const Tried fit = routing::first_choices(*scope_.snapshot, need, now_);
                auto kind = std::find_if(kinds.begin(), kinds.end(),
                                         [&](const auto& each) { return each.fit == fit; });
                if (kind == kinds.end()) {
                    kinds.push_back({.fit = fit, .places = {}});
                    kind = kinds.end() - 1;
                }
                methods.push_back(
                    {plan.call->method, block, static_cast<std::size_t>(kind - kinds.begin())});
                known = methods.end() - 1;
            }
            kinds[known->kind].places.push_back(place);
        }
        return kinds;
    }

    upstream::CallKind kind_of(std::size_t place) const {
        return {*plans_[place].traits, plans_[place].call->method};
    }

    Lane& lane_of(UpstreamIndex upstream, const std::vector<std::size_t>& messages) {
        const auto known = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
            return lane.upstream == upstream;
        });
        if (known != lanes_.end()) {
            return *known;
        }
        Lane& lane = lanes_.emplace_back();
        lane.upstream = upstream;
        lane.most_runners = std::min(kSideBySide, messages[upstream]);
        return lane;
    }

    void start_runner(Lane& lane) {
        ++lane.runners;
        tasks_.spawn(run_lane(lane));
    }

    // As long as it is not known that the upstream takes arrays of this size, they go one by one.
    runtime::Task<> run_lane(Lane& lane) {
        while (!lane.places.empty() && !scope_.client.gone()) {
            upstream::BatchAdmission admission = admit(lane);
            if (!admission.permit) {
                on_no_place(lane, admission.obstacle);
                break;
            }
            if (admission.calls < std::min(lane.size, lane.places.size())) {
                lane.size = admission.calls;
            }
            const Group group{.upstream = lane.upstream,
                              .plans = plans_,
                              .places = take(lane, admission.calls),
                              .deadline = scope_.received + scope_.chain.config.timeouts.request,
                              .client = scope_.client};
            if (admission.borne_out) {
                fill(lane);
            }
            Unanswered left = co_await send_group(scope_.services, scope_.chain, group, answers_);
            admission.permit.reset();
            if (left.too_many.empty()) {
                fill(lane);
            }
            lane.places.insert(lane.places.begin(), left.too_many.begin(), left.too_many.end());
            add_again(left, lane.upstream);
        }
        --lane.runners;
    }

    // As many as there are arrays left to send, beside the one that asks.
    void fill(Lane& lane) {
        const std::size_t arrays = (lane.places.size() + lane.size - 1) / lane.size;
        const std::size_t wanted = std::min(lane.most_runners, arrays + 1);
        // A runner that finds no place ends at once.
        for (std::size_t i = lane.runners; i < wanted && !lane.places.empty(); ++i) {
            start_runner(lane);
        }
    }

    upstream::BatchAdmission admit(const Lane& lane) const {
        std::vector<upstream::CallKind> kinds;
        kinds.reserve(lane.size);
        for (const std::size_t place : lane.places) {
            if (kinds.size() == lane.size) {
                break;
            }
            kinds.push_back(kind_of(place));
        }
        return scope_.chain.pool.admit_batch(lane.upstream, kinds,
                                             scope_.services.worker.clock.now());
    }

    static std::vector<std::size_t> take(Lane& lane, std::size_t calls) {
        const auto end = lane.places.begin() + static_cast<std::ptrdiff_t>(calls);
        std::vector<std::size_t> places(lane.places.begin(), end);
        lane.places.erase(lane.places.begin(), end);
        return places;
    }

    // Another array of the batch may hold the last place in flight; else each call goes alone.
    void on_no_place(Lane& lane, upstream::Obstacle obstacle) {
        if (obstacle == upstream::Obstacle::capacity && lane.runners > 1) {
            return;
        }
        for (const std::size_t place : std::exchange(lane.places, {})) {
            alone_.push_back({.place = place, .asked = {}, .again = false});
        }
        start_alone();
    }

    void add_alone(std::span<const std::size_t> places) {
        for (const std::size_t place : places) {
            alone_.push_back({.place = place, .asked = {}, .again = false});
        }
    }

    void add_again(const Unanswered& left, UpstreamIndex upstream) {
        for (const std::size_t place : left.limited) {
            alone_.push_back({.place = place, .asked = {}, .again = true});
        }
        for (const std::size_t place : left.lost) {
            Alone& alone = alone_.emplace_back();
            alone = {.place = place, .asked = {}, .again = true};
            alone.asked.set(upstream);
        }
        start_alone();
    }

    void start_alone() {
        const std::size_t wanted = std::min(kSideBySide, alone_.size());
        for (std::size_t i = alone_runners_; i < wanted && !alone_.empty(); ++i) {
            ++alone_runners_;
            tasks_.spawn(run_alone());
        }
    }

    // Nothing more is sent for a client that is gone.
    runtime::Task<> run_alone() {
        while (!alone_.empty() && !scope_.client.gone()) {
            const Alone next = alone_.front();
            alone_.pop_front();
            co_await run_one(next);
        }
        --alone_runners_;
    }

    runtime::Task<> run_one(Alone alone) {
        CallPlan plan = plans_[alone.place];
        RequestScope scope = scope_;
        if (alone.again) {
            plan.asked = alone.asked;
            scope.snapshot = scope.chain.pool.snapshots().get();
        }
        Answer answer = co_await run_call(scope, plan);
        answer.compact();
        answers_[alone.place].emplace(std::move(answer));
    }

    runtime::Task<> run_writes() {
        for (const std::size_t place : writes_) {
            if (scope_.client.gone()) {
                break;
            }
            const Alone next{.place = place, .asked = {}, .again = false};
            co_await run_one(next);
        }
    }

    const RequestScope& scope_;
    const std::span<const CallPlan> plans_;
    const core::TimePoint now_;
    Answers answers_;
    std::deque<Lane> lanes_;
    std::deque<Alone> alone_;
    std::size_t alone_runners_ = 0;
    std::vector<std::size_t> writes_;
    runtime::TaskGroup tasks_;
};

}  // namespace

runtime::Task<Answers> run_batch(const RequestScope& scope, std::span<const CallPlan> plans) {
    BatchOperation operation(scope, plans);
    Answers answers = co_await operation.run();
    co_return answers;
}

}  // namespace weir::proxy
