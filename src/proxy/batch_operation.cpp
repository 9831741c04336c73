#include "proxy/batch_operation.hpp"

#include "proxy/batch_run.hpp"
#include "proxy/client.hpp"
#include "proxy/patience.hpp"
#include "proxy/pinned_attempt.hpp"
#include "proxy/riders.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy {
namespace {

bool goes_in_order(const CallPlan& plan) {
    return !plan.refusal &&
           (plan.access() == routing::Access::write || plan.access() == routing::Access::broadcast);
}

}  // namespace

void BatchOperation::begin() {
    std::vector<std::size_t> riders;
    for (std::size_t place = 0; place < plans_.size(); ++place) {
        if (!plans_[place].is_owed_an_item()) {
            continue;
        }
        if (goes_in_order(plans_[place])) {
            writes_.push_back(place);
        } else if (may_ride(scope_, plans_[place])) {
            riders.push_back(place);
        } else {
            add_alone(place);
        }
    }
    if (!writes_.empty()) {
        tasks_.spawn(run_writes());
    }
    begin_arrays(riders, {});
}

// What lacks but a place in flight goes to second choices that have one, or waits for it at the
// first ones, of which all in `full` are.
void BatchOperation::begin_arrays(std::span<const std::size_t> riders, const routing::Tried& tried,
                                  const routing::Tried& full) {
    if (riders.size() < 2 || scope_.chain.config.batch.max_upstream_calls < 2) {
        for (const std::size_t place : riders) {
            add_alone(place);
        }
        return;
    }
    const core::TimePoint now = scope_.services.worker.clock.now();
    std::vector<routing::BatchRoom> rooms =
        scope_.chain.pool.batch_rooms(riders.size(), kind_of(riders.front()), now);
    std::vector<std::size_t> messages;
    messages.reserve(rooms.size());
    for (const routing::BatchRoom& room : rooms) {
        messages.push_back(room.messages);
    }
    const routing::BatchPlan plan =
        routing::plan_batch(*scope_.snapshot, kinds_of(scope_, plans_, riders, tried, now),
                            std::move(rooms), scope_.services.worker.random.next());
    if (full.any() && plan.alone.size() > 1) {
        tasks_.spawn(wait_for_place(plan.alone, full));
    } else {
        for (const std::size_t place : plan.alone) {
            add_alone(place);
        }
    }
    for (const routing::BatchKind& kind : plan.waiting) {
        begin_arrays(kind.places, tried | kind.fit, full | kind.fit);
    }
    for (const routing::BatchGroup& group : plan.groups) {
        Lane& lane = lane_of(group.upstream, std::min(kSideBySide, messages[group.upstream]));
        lane.places.insert(lane.places.end(), group.places.begin(), group.places.end());
        lane.size = std::max(lane.size, group.places.size());
    }
    for (Lane& lane : lanes_) {
        if (lane.timely() == 0 && !lane.places.empty()) {
            start_runner(lane);
        }
    }
}

BatchOperation::Lane& BatchOperation::lane_of(routing::UpstreamIndex upstream,
                                              std::size_t most_runners) {
    const auto known = std::find_if(lanes_.begin(), lanes_.end(),
                                    [&](const Lane& lane) { return lane.upstream == upstream; });
    if (known != lanes_.end()) {
        return *known;
    }
    Lane& lane = lanes_.emplace_back();
    lane.upstream = upstream;
    lane.most_runners = most_runners;
    return lane;
}

void BatchOperation::start_runner(Lane& lane) {
    ++lane.runners;
    tasks_.spawn(run_lane(lane, {}));
}

// The place that comes up is one array's. What finds none in time goes call by call, to be told so.
runtime::Task<> BatchOperation::wait_for_place(std::vector<std::size_t> places,
                                               routing::Tried among) {
    const runtime::Clock& clock = scope_.services.worker.clock;
    const core::TimePoint began = clock.now();
    const CallPlan& first = plans_[places.front()];
    core::Duration before{};
    for (const std::size_t place : places) {
        before = std::max(before, plans_[place].waited + states_[place].waited);
    }
    Patience patience(scope_.services, scope_.chain, scope_.client, deadline_, before);
    const upstream::Turn turn{.among = among,
                              .traits = first.traits,
                              .method = first.call->method,
                              .share = share_of(first)};
    Ending ending;
    std::optional<upstream::Granted> granted = co_await patience.wait(turn, ending);
    const core::Duration waited = clock.now() - began;
    for (const std::size_t place : places) {
        states_[place].waited += waited;
        if (!granted) {
            add_alone(place);
        }
    }
    if (!granted) {
        co_return;
    }
    Lane& lane = lane_of(granted->upstream, 1);
    lane.places.insert(lane.places.begin(), places.begin(), places.end());
    lane.size = std::max(lane.size, places.size());
    ++lane.runners;
    co_await run_lane(lane, std::move(granted->permit));
}

// As long as it is not known that the upstream takes arrays of this size, they go one by one.
runtime::Task<> BatchOperation::run_lane(Lane& lane, std::optional<upstream::Permit> place) {
    while (!lane.places.empty() && !is_over()) {
        upstream::BatchAdmission admission = admit(lane, std::exchange(place, std::nullopt));
        if (!admission.permit) {
            if (admission.obstacle != upstream::Obstacle::capacity) {
                scatter(lane);
            } else if (lane.timely() == 1) {
                const auto places = std::exchange(lane.places, {});
                begin_arrays(std::vector(places.begin(), places.end()), {});
                continue;
            }
            break;  // another array of the batch may hold the last place in flight
        }
        if (admission.calls < std::min(lane.size, lane.places.size())) {
            lane.size = admission.calls;
        }
        const auto end = lane.places.begin() + static_cast<std::ptrdiff_t>(admission.calls);
        std::vector<std::size_t> places(lane.places.begin(), end);
        lane.places.erase(lane.places.begin(), end);
        if (admission.borne_out) {
            fill(lane);
        }
        co_await leave_out_unbound(lane.upstream, places);
        if (places.empty()) {
            continue;
        }
        const Unanswered left = co_await send_array(lane, std::move(places));
        admission.permit.reset();
        if (left.too_many.empty()) {
            fill(lane);
        }
        lane.places.insert(lane.places.begin(), left.too_many.begin(), left.too_many.end());
        if (!left.too_many.empty() && lane.timely() > 1) {
            break;  // one of them finds out what size is taken
        }
    }
    if (is_over()) {
        scatter(lane);  // to be told so
    }
    --lane.runners;
}

// As many as there are arrays left to send, beside the one that asks.
void BatchOperation::fill(Lane& lane) {
    const std::size_t arrays = (lane.places.size() + lane.size - 1) / lane.size;
    const std::size_t wanted = std::min(lane.most_runners, arrays + 1);
    // A runner that finds no place ends at once.
    for (std::size_t i = lane.runners; i < wanted && !lane.places.empty(); ++i) {
        start_runner(lane);
    }
}

upstream::BatchAdmission BatchOperation::admit(const Lane& lane,
                                               std::optional<upstream::Permit> place) const {
    std::vector<upstream::CallKind> kinds;
    kinds.reserve(lane.size);
    for (const std::size_t each : lane.places) {
        if (kinds.size() == lane.size) {
            break;
        }
        kinds.push_back(kind_of(each));
    }
    const core::TimePoint now = scope_.services.worker.clock.now();
    upstream::Pool& pool = scope_.chain.pool;
    return place ? pool.admit_batch(std::move(*place), lane.upstream, kinds, now)
                 : pool.admit_batch(lane.upstream, kinds, now);
}

// Those that are bound to a block that the upstream does not have, or not by hash, go alone.
runtime::Task<> BatchOperation::leave_out_unbound(routing::UpstreamIndex upstream,
                                                  std::vector<std::size_t>& places) {
    std::vector<std::size_t> riding;
    riding.reserve(places.size());
    for (const std::size_t place : places) {
        bool rides = true;
        if (plans_[place].pinned != nullptr) {
            rides = co_await may_go_by_hash(plans_[place], upstream);
        }
        if (rides) {
            riding.push_back(place);
        } else {
            add_alone(place);
        }
    }
    places = std::move(riding);
}

// What is to be asked alone is under way when it returns.
runtime::Task<Unanswered> BatchOperation::send_array(Lane& lane, std::vector<std::size_t> places) {
    ChainContext& chain = scope_.chain;
    const core::TimePoint begin = scope_.services.worker.clock.now();
    Unanswered left;
    {
        Array array(*this, lane, places);
        runtime::Charge text(scope_.services.worker.buffers);
        if (text.add(size_of(array.group))) {
            ++messages_;
            array.arm(begin + chain.config.timeouts.attempt);
            left = co_await send_group(scope_.services, chain, array.group, answers_);
            lane.late -= array.is_late ? 1 : 0;
            chain.retries.note_calls(places.size() - left.too_many.size(), begin);
        } else {
            left.alone = places;  // a call alone is sent from where it lies
        }
    }
    end_array(places, left);
    co_return left;
}

// Its calls are asked elsewhere as well, those that somebody else is fit for; and halfway from then
// to the deadline all of them, since one of them may be what holds the others up.
void BatchOperation::on_late(Array& array) {
    const core::TimePoint now = scope_.services.worker.clock.now();
    const bool last = std::exchange(array.is_late, true);
    const auto snapshot = scope_.chain.pool.snapshots().get();
    const auto may_go_elsewhere = [&](std::size_t place) {
        return has_another(scope_.chain, *snapshot, plans_[place], array.lane.upstream, now);
    };
    for (const std::size_t place : array.group.places) {
        if (!answers_[place] && !states_[place].is_asked_alone &&
            (last || may_go_elsewhere(place))) {
            ask_alone_too(array, place);
        }
    }
    if (last) {
        return;
    }
    ++array.lane.late;
    array.arm(now + (deadline_ - now) / 2);
    if (!array.lane.places.empty()) {
        if (may_go_elsewhere(array.lane.places.front())) {
            routing::Tried tried;
            tried.set(array.lane.upstream);
            const auto places = std::exchange(array.lane.places, {});
            begin_arrays(std::vector(places.begin(), places.end()), tried);
        } else {
            start_runner(array.lane);
        }
    }
}

void BatchOperation::ask_alone_too(const Array& array, std::size_t place) {
    states_[place].is_asked_alone = true;
    add_alone(
        place,
        Earlier{.upstream = array.lane.upstream, .cause = routing::Cause::timeout, .said = {}});
}

// What is asked elsewhere already is left to that; what that could not answer gets what it came to.
void BatchOperation::end_array(const std::vector<std::size_t>& places, Unanswered& left) {
    for (const std::size_t place : places) {
        if (answers_[place] && states_[place].alone != nullptr) {
            states_[place].alone->presence.leave();
        }
        if (const auto failed = left_over_.find(place); failed != left_over_.end()) {
            settle(place, std::move(failed->second));
            left_over_.erase(failed);
        }
    }
    const auto is_cared_for = [this](std::size_t place) {
        return answers_[place] || states_[place].is_asked_alone;
    };
    std::erase_if(left.too_many, is_cared_for);
    for (const std::size_t place : left.alone) {
        if (!is_cared_for(place)) {
            add_alone(place);
        }
    }
    for (Unanswered::Lost& lost : left.lost) {
        if (!is_cared_for(lost.place)) {
            add_alone(lost.place, std::move(lost.earlier));
        }
    }
}

// No more arrays for these.
void BatchOperation::scatter(Lane& lane) {
    for (const std::size_t place : std::exchange(lane.places, {})) {
        add_alone(place);
    }
}

runtime::Task<BatchResult> run_batch(const RequestScope& scope, std::span<const CallPlan> plans,
                                     runtime::Charge& held) {
    BatchOperation operation(scope, plans, held);
    BatchResult result = co_await operation.run();
    co_return result;
}

}  // namespace weir::proxy
