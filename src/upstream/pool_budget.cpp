// The pool's part about turns: who may send now, who waits, what is charged.
#include "routing/provider_book.hpp"
#include "upstream/pool_impl.hpp"

#include <algorithm>
#include <utility>

namespace weir::upstream {

using routing::Charge;
using routing::MethodTraits;
using routing::Tried;
using routing::UpstreamIndex;

void Pool::Impl::apply_profiles(const routing::ProviderBook& providers) {
    for (Member& member : members) {
        const routing::Profile& profile = providers.get(member.config.provider);
        member.profile = &profile;
        for (std::size_t number = 0; number < routing::method_count(); ++number) {
            member.costs.push_back(
                static_cast<double>(profile.cost(routing::method_at(number).name)));
        }
        if (member.config.batch.max_calls == 0 && profile.batch_max() != 0) {
            member.batch = routing::BatchLimit(profile.batch_max(), chain.batch.max_upstream_calls);
        }
    }
}

Charge Pool::Impl::charge_of(UpstreamIndex index, const CallKind& call) const {
    const Member& member = members[index];
    if (member.profile == nullptr) {
        return {.calls = 1, .units = static_cast<double>(call.traits.cost)};
    }
    if (!call.traits.known() && !call.method.empty()) {
        return {.calls = 1, .units = static_cast<double>(member.profile->cost(call.method))};
    }
    return {.calls = 1, .units = member.costs[routing::method_number(call.traits)]};
}

core::TimePoint Pool::Impl::rest_of(const Member& member) const {
    return member.budget.is_spent()
               ? std::max(member.health.rests_until(), member.budget.renews_at())
               : member.health.rests_until();
}

Obstacle Pool::Impl::obstacle_to(UpstreamIndex index, const CallKind& call,
                                 core::TimePoint now) const {
    const Member& member = members[index];
    if (now < member.health.rests_until()) {
        return Obstacle::limit;
    }
    if (member.budget.is_spent() || member.limit.load(std::memory_order_relaxed) == 0) {
        return Obstacle::unfit;
    }
    if (member.budget.ready_at(charge_of(index, call), now) > now) {
        return Obstacle::limit;
    }
    // In sequence with release() and join(): one of them sees the other.
    return member.in_flight.load() >= member.limit.load() ? Obstacle::capacity : Obstacle::none;
}

Permit Pool::Impl::grant(UpstreamIndex index, const CallKind& call, core::TimePoint now) {
    Member& member = members[index];
    member.in_flight.fetch_add(1);
    member.budget.take(charge_of(index, call), now);
    return {pool, index};
}

bool Pool::Impl::is_waited_for(UpstreamIndex index) const {
    return std::any_of(queue.begin(), queue.end(),
                       [index](const auto& waiter) { return waiter->wants.among.test(index); });
}

std::optional<UpstreamIndex> Pool::Impl::free_one(const Turn& turn, const Tried& taken,
                                                  core::TimePoint now) const {
    std::optional<UpstreamIndex> best;
    for (UpstreamIndex i = 0; i < members.size(); ++i) {
        if (turn.among.test(i) && !taken.test(i) &&
            (!best || members[i].config.tier < members[*best].config.tier) &&
            obstacle_to(i, turn.kind(), now) == Obstacle::none) {
            best = i;
        }
    }
    return best;
}

// When the first of the queue should look again; what waits for a place in flight is woken by it.
core::TimePoint Pool::Impl::earliest(const Turn& turn, core::TimePoint now) const {
    core::TimePoint at = core::TimePoint::max();
    for (UpstreamIndex i = 0; i < members.size(); ++i) {
        if (turn.among.test(i)) {
            const core::TimePoint ready = std::max(
                rest_of(members[i]), members[i].budget.ready_at(charge_of(i, turn.kind()), now));
            at = ready > now ? std::min(at, ready) : at;
        }
    }
    return at;
}

// Each upstream serves those that want it in their order: who must wait for one bars it to those
// behind.
void Pool::Impl::run_queue(core::TimePoint now) {
    if (queue.empty()) {
        return;
    }
    Tried taken;
    core::TimePoint next = core::TimePoint::max();
    for (auto each = queue.begin(); each != queue.end();) {
        Waiter& waiter = **each;
        if (const auto upstream = free_one(waiter.wants, taken, now)) {
            const std::shared_ptr<Waiter> served = std::move(*each);
            each = queue.erase(each);
            waiting.store(queue.size());
            served->on_turn(*upstream, grant(*upstream, served->wants.kind(), now));
            continue;
        }
        if ((waiter.wants.among & ~taken).any()) {
            next = std::min(next, earliest(waiter.wants, now));
        }
        taken |= waiter.wants.among;
        ++each;
    }
    if (!queue.empty()) {
        queue.front()->on_first(next);
    }
}

Outlook Pool::Impl::outlook(const Turn& turn, core::TimePoint now) const {
    Outlook best{.ready_at = core::TimePoint::max(), .obstacle = Obstacle::unfit};
    for (UpstreamIndex i = 0; i < members.size(); ++i) {
        if (!turn.among.test(i)) {
            continue;
        }
        Charge ahead{.calls = 0, .units = 0};
        for (const std::shared_ptr<Waiter>& waiter : queue) {
            if (waiter->wants.among.test(i)) {
                const Charge cost = charge_of(i, waiter->wants.kind());
                ahead.calls += cost.calls;
                ahead.units += cost.units;
            }
        }
        Obstacle obstacle = obstacle_to(i, turn.kind(), now);
        if (obstacle == Obstacle::unfit) {
            continue;
        }
        const core::TimePoint at =
            std::max(members[i].health.rests_until(),
                     members[i].budget.estimate(ahead, charge_of(i, turn.kind()), now));
        if (at > now || ahead.calls > 0) {
            obstacle = Obstacle::limit;
        }
        if (best.obstacle == Obstacle::unfit || at < best.ready_at) {
            best = {.ready_at = std::max(at, now), .obstacle = obstacle};
        }
    }
    return best;
}

void Pool::Impl::on_limit(Member& member, core::TimePoint sent_at, core::TimePoint now) {
    member.budget.on_limit(sent_at, now, std::max(now, member.health.rests_until()));
}

Admission Pool::admit(UpstreamIndex upstream, const CallKind& call, core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    Admission admission;
    admission.obstacle = impl_->obstacle_to(upstream, call, now);
    if (admission.obstacle == Obstacle::none && impl_->is_waited_for(upstream)) {
        admission.obstacle = Obstacle::limit;
    }
    if (admission.obstacle == Obstacle::none) {
        admission.permit = impl_->grant(upstream, call, now);
        if (impl_->members[upstream].budget.is_spent()) {
            impl_->refresh(now);
        }
    }
    return admission;
}

std::uint64_t Pool::units_of(UpstreamIndex upstream, const CallKind& call) const {
    return static_cast<std::uint64_t>(impl_->charge_of(upstream, call).units);
}

core::TimePoint Pool::charge_probe(UpstreamIndex upstream, const MethodTraits& traits,
                                   core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    routing::Budget& budget = impl_->members[upstream].budget;
    const Charge charge = impl_->charge_of(upstream, traits);
    const core::TimePoint at = budget.ready_at(charge, now);
    budget.take(charge, now);
    impl_->members[upstream].probe_units += static_cast<std::uint64_t>(charge.units);
    return at;
}

Pool::Joined Pool::join(std::shared_ptr<Waiter> waiter, core::TimePoint until,
                        core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    const Outlook outlook = impl_->outlook(waiter->wants, now);
    if (outlook.obstacle == Obstacle::unfit || outlook.ready_at > until) {
        return Joined::too_late;
    }
    if (impl_->queue.size() >= kMaxWaiting) {
        return Joined::full;
    }
    impl_->queue.push_back(std::move(waiter));
    impl_->waiting.store(impl_->queue.size());
    impl_->run_queue(now);
    return Joined::yes;
}

bool Pool::leave(const Waiter& waiter, core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    const auto place = std::find_if(impl_->queue.begin(), impl_->queue.end(),
                                    [&](const auto& each) { return each.get() == &waiter; });
    if (place == impl_->queue.end()) {
        return false;
    }
    impl_->queue.erase(place);
    impl_->waiting.store(impl_->queue.size());
    impl_->run_queue(now);
    return true;
}

void Pool::run_queue(core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    impl_->run_queue(now);
}

Outlook Pool::outlook(const Turn& turn, core::TimePoint now) const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->outlook(turn, now);
}

void Pool::observe_wall_clock(core::WallTime wall, core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    for (Impl::Member& member : impl_->members) {
        member.budget.on_wall_clock(wall, now);
        member.health.set_renewal(now + routing::until_renewal(wall));
    }
}

// A place in flight has become free: the first of the queue looks at once.
void Pool::release(UpstreamIndex upstream) {
    impl_->members[upstream].in_flight.fetch_sub(1);
    if (impl_->waiting.load() != 0) {
        const std::lock_guard lock(impl_->mutex);
        if (!impl_->queue.empty()) {
            impl_->queue.front()->on_first(core::TimePoint::min());
        }
    }
}

}  // namespace weir::upstream
