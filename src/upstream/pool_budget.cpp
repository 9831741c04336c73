// The pool's part about turns: who may send now, who waits, what is charged.
#include "routing/provider_book.hpp"
#include "upstream/pool_impl.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weir::upstream {

using routing::Charge;
using routing::MethodTraits;
using routing::Tried;
using routing::UpstreamIndex;

void Pool::Impl::apply_profile(Member& member, const routing::ProviderBook& providers,
                               Limits limits) {
    const routing::Profile& profile = providers.get(member.config.provider);
    member.profile = &profile;
    for (std::size_t number = 0; number < routing::method_count(); ++number) {
        member.costs.push_back(static_cast<double>(profile.cost(routing::method_at(number).name)));
    }
    if (limits == Limits::learn_anew && member.config.batch.max_calls == 0 &&
        profile.batch_max() != 0) {
        member.batch = routing::BatchLimit(profile.batch_max(), chain.batch.max_upstream_calls);
    }
}

void Pool::Impl::count_waiting() {
    std::size_t all = 0;
    for (const Impl* each : line->pools) {
        all += each->queue.size();
    }
    line->waiting.store(all);
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
    if (member.health.is_spent(now)) {
        return Obstacle::unfit;
    }
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
    return member.reconnecting || member.in_flight.load() >= member.limit.load()
               ? Obstacle::capacity
               : Obstacle::none;
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
            served_tag = std::max(served_tag, served->tag_);
            count_waiting();
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

std::uint64_t Pool::Impl::next_tag(std::uint64_t share) const {
    std::uint64_t last = served_tag;
    for (const std::shared_ptr<Waiter>& waiter : queue) {
        if (waiter->wants.share == share) {
            last = std::max(last, waiter->tag_);
        }
    }
    return last + 1;
}

std::size_t Pool::Impl::count_of(std::uint64_t share) const {
    return static_cast<std::size_t>(
        std::count_if(queue.begin(), queue.end(),
                      [share](const auto& each) { return each->wants.share == share; }));
}

// To one who would come behind all that wait now.
Obstacle Pool::Impl::obstacle_to_newcomer(UpstreamIndex index, const CallKind& call,
                                          core::TimePoint now) const {
    const Obstacle obstacle = obstacle_to(index, call, now);
    if (obstacle != Obstacle::none || !is_waited_for(index)) {
        return obstacle;
    }
    // Where there is budget for all of these, they wait for places in flight.
    const std::vector<Charge> ahead = queued(std::numeric_limits<std::uint64_t>::max(), now);
    const Charge own = charge_of(index, call);
    return members[index].budget.estimate(ahead[index], own, now) > now ? Obstacle::limit
                                                                        : Obstacle::capacity;
}

// What those that wait with a tag up to this one will cost each upstream, if each goes to the one
// that can take it first. Long queues are dealt out in handfuls: a guess needs no more.
std::vector<Charge> Pool::Impl::queued(std::uint64_t tag, core::TimePoint now) const {
    constexpr std::size_t kHandfuls = 32;
    const std::size_t most = queue.size() / kHandfuls + 1;
    std::vector<Charge> ahead(members.size(), Charge{.calls = 0, .units = 0});
    const auto last = std::find_if(queue.begin(), queue.end(),
                                   [tag](const auto& each) { return each->tag_ > tag; });
    for (auto waiter = queue.begin(); waiter != last;) {
        const Tried among = (*waiter)->wants.among;
        std::vector<Charge> with = ahead;
        for (std::size_t taken = 0;
             taken < most && waiter != last && (*waiter)->wants.among == among; ++taken, ++waiter) {
            for (UpstreamIndex i = 0; i < members.size(); ++i) {
                if (among.test(i)) {
                    const Charge cost = charge_of(i, (*waiter)->wants.kind());
                    with[i].calls += cost.calls;
                    with[i].units += cost.units;
                }
            }
        }
        std::optional<UpstreamIndex> first;
        core::TimePoint first_at;
        for (UpstreamIndex i = 0; i < members.size(); ++i) {
            if (!among.test(i)) {
                continue;
            }
            const core::TimePoint at =
                std::max(rest_of(members[i]), members[i].budget.estimate(with[i], {0, 0}, now));
            if (!first || at < first_at) {
                first = i;
                first_at = at;
            }
        }
        if (first) {
            ahead[*first] = with[*first];
        }
    }
    return ahead;
}

Outlook Pool::Impl::outlook(const Turn& turn, core::TimePoint now) const {
    Outlook best{.ready_at = core::TimePoint::max(),
                 .capacity_at = core::TimePoint::max(),
                 .obstacle = Obstacle::unfit};
    const std::uint64_t tag = next_tag(turn.share);
    const std::vector<Charge> ahead = queued(tag, now);
    core::TimePoint last_leaves = now;
    for (const std::shared_ptr<Waiter>& waiter : queue) {
        last_leaves = std::max(last_leaves, waiter->until);
    }
    for (UpstreamIndex i = 0; i < members.size(); ++i) {
        if (!turn.among.test(i)) {
            continue;
        }
        Obstacle obstacle = obstacle_to(i, turn.kind(), now);
        if (obstacle == Obstacle::unfit) {
            continue;
        }
        const Charge own = charge_of(i, turn.kind());
        const core::TimePoint rested = std::max(now, members[i].health.rests_until());
        const core::TimePoint alone = std::max(rested, members[i].budget.ready_at(own, now));
        const core::TimePoint at = std::max(rested, members[i].budget.estimate(ahead[i], own, now));
        if (at > now) {
            obstacle = Obstacle::limit;
        } else if (ahead[i].calls > 0) {
            obstacle = Obstacle::capacity;  // there is budget for all of these
        }
        best.ready_at = std::min(best.ready_at, at);
        if (best.obstacle == Obstacle::unfit || obstacle > best.obstacle) {
            best.obstacle = obstacle;
        }
        best.capacity_at = std::min(best.capacity_at, std::min(at, std::max(alone, last_leaves)));
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

core::TimePoint Pool::charge(UpstreamIndex upstream, const MethodTraits& traits,
                             core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    routing::Budget& budget = impl_->members[upstream].budget;
    const Charge charge = impl_->charge_of(upstream, traits);
    const core::TimePoint at = budget.ready_at(charge, now);
    budget.take(charge, now);
    return at;
}

core::TimePoint Pool::charge_probe(UpstreamIndex upstream, const MethodTraits& traits,
                                   core::TimePoint now) {
    const core::TimePoint at = charge(upstream, traits, now);
    const std::lock_guard lock(impl_->mutex);
    impl_->members[upstream].probe_units +=
        static_cast<std::uint64_t>(impl_->charge_of(upstream, traits).units);
    return at;
}

Pool::Joined Pool::join(std::shared_ptr<Waiter> waiter, core::TimePoint until,
                        core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    const Outlook outlook = impl_->outlook(waiter->wants, now);
    waiter->obstacle = outlook.obstacle;
    if (outlook.obstacle == Obstacle::unfit || outlook.ready_at > until) {
        return Joined::too_late;
    }
    const std::size_t room = kMaxWaiting - impl_->queue.size();
    const std::uint64_t share = waiter->wants.share;
    if (room == 0 || (share != 0 && impl_->count_of(share) >= room)) {
        return Joined::full;
    }
    waiter->until = until;
    waiter->tag_ = impl_->next_tag(share);
    const auto behind = std::find_if(impl_->queue.begin(), impl_->queue.end(),
                                     [&](const auto& each) { return each->tag_ > waiter->tag_; });
    impl_->queue.insert(behind, std::move(waiter));
    impl_->count_waiting();
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
    impl_->count_waiting();
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

// A place in flight has become free: the first of each queue looks at once.
void Pool::release(UpstreamIndex upstream) {
    impl_->members[upstream].in_flight.fetch_sub(1);
    if (impl_->line->waiting.load() != 0) {
        const std::lock_guard lock(impl_->mutex);
        for (const Impl* const each : impl_->line->pools) {
            if (!each->queue.empty()) {
                each->queue.front()->on_first(core::TimePoint::min());
            }
        }
    }
}

}  // namespace weir::upstream
