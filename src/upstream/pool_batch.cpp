// The pool's part about arrays of calls: what has room for them, who may send one, what was
// learned.
#include "upstream/pool_impl.hpp"

#include <algorithm>
#include <utility>

namespace weir::upstream {

using routing::BatchRoom;
using routing::Charge;
using routing::UpstreamIndex;

namespace {

// The longest beginning of `calls` that the budget is ready for.
std::size_t ready_calls(const routing::Budget& budget, std::span<const Charge> calls,
                        core::TimePoint now) {
    Charge sum{.calls = 0, .units = 0};
    for (const Charge& each : calls) {
        sum.calls += each.calls;
        sum.units += each.units;
    }
    const auto count = static_cast<double>(calls.size());
    const Charge mean{.calls = 1, .units = sum.units / count};
    return budget.ready_calls(mean, calls.size(), now);
}

}  // namespace

std::vector<BatchRoom> Pool::batch_rooms(std::size_t calls, const CallKind& typical,
                                         core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    std::vector<BatchRoom> rooms(impl_->members.size());
    for (UpstreamIndex i = 0; i < rooms.size(); ++i) {
        Impl::Member& member = impl_->members[i];
        const std::size_t limit = member.limit.load(std::memory_order_relaxed);
        const std::size_t in_flight = member.in_flight.load();
        const Obstacle obstacle = impl_->obstacle_to_newcomer(i, typical, now);
        if (obstacle != Obstacle::none && obstacle != Obstacle::capacity) {
            continue;
        }
        rooms[i].most = member.batch.most(calls, now);
        rooms[i].calls = member.budget.ready_calls(impl_->charge_of(i, typical), calls, now);
        rooms[i].messages =
            obstacle == Obstacle::none ? limit - std::min(limit, in_flight) : std::size_t{0};
    }
    return rooms;
}

BatchAdmission Pool::admit_batch(UpstreamIndex upstream, std::span<const CallKind> calls,
                                 core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    BatchAdmission admission;
    admission.obstacle = impl_->obstacle_to_newcomer(upstream, calls.front(), now);
    if (admission.obstacle == Obstacle::none) {
        admission = impl_->charge_batch(upstream, calls, 0, now);
    }
    if (admission.calls != 0) {
        impl_->members[upstream].in_flight.fetch_add(1);
        admission.permit = Permit(*this, upstream);
    }
    return admission;
}

BatchAdmission Pool::admit_batch(Permit place, UpstreamIndex upstream,
                                 std::span<const CallKind> calls, core::TimePoint now) {
    BatchAdmission admission;
    {
        const std::lock_guard lock(impl_->mutex);
        admission = impl_->charge_batch(upstream, calls, 1, now);
    }
    if (admission.calls != 0) {
        admission.permit = std::move(place);
    }
    return admission;
}

// For as many as may go, of which the first `charged` are paid for.
BatchAdmission Pool::Impl::charge_batch(UpstreamIndex index, std::span<const CallKind> calls,
                                        std::size_t charged, core::TimePoint now) {
    Member& member = members[index];
    BatchAdmission admission;
    const std::size_t most = member.batch.admitted(calls.size());
    if (most < 2) {
        return admission;
    }
    std::vector<Charge> charges;
    charges.reserve(most);
    for (const CallKind& call : calls.first(most).subspan(charged)) {
        charges.push_back(charge_of(index, call));
    }
    const std::size_t ready = charged + ready_calls(member.budget, charges, now);
    if (ready < 2) {
        return admission;
    }
    Charge sum{.calls = 0, .units = 0};
    for (const Charge& charge : std::span(charges).first(ready - charged)) {
        sum.calls += charge.calls;
        sum.units += charge.units;
    }
    admission.calls = ready;
    admission.borne_out = member.batch.is_borne_out(ready);
    member.budget.take(sum, now);
    if (member.budget.is_spent()) {
        refresh(now);
    }
    return admission;
}

void Pool::report_batch(UpstreamIndex upstream, const BatchReport& report) {
    const std::lock_guard lock(impl_->mutex);
    routing::BatchLimit& limit = impl_->members[upstream].batch;
    switch (report.end) {
        case BatchReport::End::taken:
            limit.on_taken(report.calls, report.at);
            break;
        case BatchReport::End::refused:
            limit.on_refused(report.calls, report.named, report.at);
            break;
        case BatchReport::End::cut:
            limit.on_cut(report.calls, report.named.value_or(0), report.at);
            break;
        case BatchReport::End::lost:
            limit.on_lost(report.calls, report.at);
            break;
    }
}

}  // namespace weir::upstream
