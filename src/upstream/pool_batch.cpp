// The pool's part about arrays of calls: what has room for them, who may send one, what was
// learned.
#include "upstream/pool_impl.hpp"

#include <algorithm>

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
        if (in_flight >= limit || now < member.health.rests_until() || member.budget.is_spent() ||
            impl_->is_waited_for(i)) {
            continue;
        }
        rooms[i].most = member.batch.most(calls, now);
        rooms[i].calls = member.budget.ready_calls(impl_->charge_of(i, typical), calls, now);
        rooms[i].messages = limit - in_flight;
    }
    return rooms;
}

BatchAdmission Pool::admit_batch(UpstreamIndex upstream, std::span<const CallKind> calls,
                                 core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    Impl::Member& member = impl_->members[upstream];
    BatchAdmission admission;
    admission.obstacle = impl_->obstacle_to(upstream, calls.front(), now);
    if (admission.obstacle == Obstacle::none && impl_->is_waited_for(upstream)) {
        admission.obstacle = Obstacle::limit;
    }
    if (admission.obstacle != Obstacle::none) {
        return admission;
    }
    const std::size_t most = member.batch.admitted(calls.size());
    std::vector<Charge> charges;
    charges.reserve(most);
    for (const CallKind& call : calls.first(most)) {
        charges.push_back(impl_->charge_of(upstream, call));
    }
    const std::size_t ready = most < 2 ? 0 : ready_calls(member.budget, charges, now);
    if (ready < 2) {
        return admission;
    }
    Charge sum{.calls = 0, .units = 0};
    for (const Charge& charge : std::span(charges).first(ready)) {
        sum.calls += charge.calls;
        sum.units += charge.units;
    }
    admission.calls = ready;
    admission.borne_out = member.batch.is_borne_out(ready);
    member.in_flight.fetch_add(1);
    member.budget.take(sum, now);
    admission.permit = Permit(*this, upstream);
    if (member.budget.is_spent()) {
        impl_->refresh(now);
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
        case BatchReport::End::lost:
            limit.on_lost(report.calls, report.at);
            break;
    }
}

}  // namespace weir::upstream
