#include "proxy/patience.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy {
namespace {

// What must be left of a request's time for a turn to be worth having.
core::Duration time_for_one(const config::Timeouts& timeouts) {
    return std::min(timeouts.attempt, timeouts.request / 4);
}

// Why nobody can take a call any more whose turn was waited for.
routing::NoUpstream nobody_of(const routing::Tried& among, const routing::RoutingSnapshot& pool) {
    routing::NoUpstream nobody;
    nobody.reason = routing::NoUpstream::Reason::unfit;
    for (routing::UpstreamIndex i = 0; i < pool.upstreams.size(); ++i) {
        if (among.test(i) && pool.upstreams[i].state == routing::UpstreamState::quota_spent) {
            nobody.reason = routing::NoUpstream::Reason::quota_exhausted;
        }
    }
    return nobody;
}

}  // namespace

core::TimePoint last_start(const config::Timeouts& timeouts, core::TimePoint deadline) {
    return deadline - time_for_one(timeouts);
}

Patience::Patience(Services& services, ChainContext& chain, ClientPresence& client,
                   core::TimePoint deadline, core::Duration waited)
    : services_(services),
      chain_(chain),
      client_(client),
      last_start_(last_start(chain.config.timeouts, deadline)),
      left_(std::max(chain.config.rate_limits.max_wait - waited, core::Duration::zero())) {}

runtime::Task<std::optional<upstream::Granted>> Patience::wait(upstream::Turn turn,
                                                               Ending& ending) {
    const core::TimePoint started = services_.worker.clock.now();
    upstream::Waited waited;
    if (!client_.gone()) {
        upstream::PlaceInQueue place(services_.worker, chain_.pool, turn);
        place_ = &place;
        client_.add(*this);
        const core::TimePoint until = std::min(started + left_, last_start_);
        waited = co_await place.wait(until);
        client_.remove(*this);
        place_ = nullptr;
    }
    const core::TimePoint now = services_.worker.clock.now();
    left_ -= std::min(left_, now - started);
    if (waited.end == upstream::WaitEnd::full) {
        ending.queue_full = true;
    } else if (!waited.granted) {
        const upstream::Outlook outlook = chain_.pool.outlook(turn, now);
        // One that has just ended is why the wait was too long.
        const upstream::Obstacle obstacle =
            outlook.obstacle == upstream::Obstacle::none ? waited.obstacle : outlook.obstacle;
        ending.limited =
            obstacle == upstream::Obstacle::limit || obstacle == upstream::Obstacle::none;
        ending.at_capacity = ending.at_capacity || obstacle == upstream::Obstacle::capacity;
        ending.available_at = outlook.capacity_at;
        if (outlook.obstacle == upstream::Obstacle::unfit) {
            ending.nobody = nobody_of(turn.among, *chain_.pool.snapshots().get());
        }
    }
    co_return std::move(waited.granted);
}

void Patience::on_client_gone() { place_->leave(); }

}  // namespace weir::proxy
