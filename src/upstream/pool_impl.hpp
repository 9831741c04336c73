// The pool's insides: the records of one chain's upstreams under one lock, and the picture that is
// published of them.
#pragma once

#include "chain/chain_view.hpp"
#include "routing/batch_limit.hpp"
#include "routing/budget.hpp"
#include "routing/policy.hpp"
#include "routing/state_reach.hpp"
#include "routing/upstream_health.hpp"
#include "upstream/failure_log.hpp"
#include "upstream/pool.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weir::routing {
class Profile;
}

namespace weir::upstream {

inline std::int64_t ticks(core::TimePoint time) { return time.time_since_epoch().count(); }

struct Pool::Impl {
    // What is published of an upstream's state; a new picture is due when it changes.
    struct Shown {
        routing::UpstreamState state = routing::UpstreamState::unknown;
        bool identified = false;
        bool half_open = false;
        bool slow_circuit_open = false;
        bool trickle = false;
        std::uint64_t marks = 0;  // their revision
        std::uint64_t reach = 0;
        std::optional<std::uint64_t> history;
        core::TimePoint until{};
        friend bool operator==(const Shown&, const Shown&) = default;
    };

    struct Member {
        Member(const config::Upstream& upstream, const config::Chain& chain)
            : config(upstream),
              policy(std::make_shared<const routing::MethodPolicy>(upstream.methods)),
              health(chain.circuit, chain.rate_limits),
              budget(upstream.rate),
              batch(upstream.batch.max_calls, chain.batch.max_upstream_calls),
              state_reach(upstream.history) {}

        const config::Upstream& config;
        const std::shared_ptr<const routing::MethodPolicy> policy;
        routing::UpstreamHealth health;
        routing::Budget budget;
        routing::BatchLimit batch;
        routing::StateReach state_reach;
        Shown shown;
        const routing::Profile* profile = nullptr;  // none: calls cost the methods' own weights
        std::vector<double> costs;                  // by the method's number
        std::uint64_t probe_units = 0;
        bool drained = false;
        routing::Cause head_trouble =
            routing::Cause::answered;  // of the probes since its last head

        // Read without the lock.
        std::atomic<std::size_t> in_flight = 0;
        std::atomic<std::size_t> limit = 0;  // 0: may not serve
        std::atomic<std::int64_t> rests_until = 0;
    };

    Impl(Pool& the_pool, const config::Chain& the_chain, core::TimePoint now);

    // All below under the lock, unless it says otherwise.
    Shown judge(routing::UpstreamIndex index, core::TimePoint now) const;
    std::string reason_of(routing::UpstreamIndex index, const Shown& shown) const;
    void refresh(core::TimePoint now);
    void refresh_after(routing::UpstreamIndex index, core::TimePoint now);
    void publish(core::TimePoint now);
    void set_limits();
    routing::ChainState chain_state() const;
    double score_of(routing::UpstreamIndex index, routing::TimeClass time_class) const;
    std::optional<core::Duration> best_latency(routing::TimeClass time_class) const;
    void learn_history(Member& member, const AttemptReport& report);
    void apply(routing::Doubt doubt, routing::UpstreamIndex index);
    bool forgive_alike(const AttemptReport& report);

    void apply_profiles(const routing::ProviderBook& providers);
    // The only place that says what a call costs at an upstream.
    routing::Charge charge_of(routing::UpstreamIndex index, const CallKind& call) const;
    core::TimePoint rest_of(const Member& member) const;
    Obstacle obstacle_to(routing::UpstreamIndex index, const CallKind& call,
                         core::TimePoint now) const;
    Permit grant(routing::UpstreamIndex index, const CallKind& call, core::TimePoint now);
    bool is_waited_for(routing::UpstreamIndex index) const;
    std::vector<routing::Charge> queued(core::TimePoint now) const;
    Outlook outlook(const Turn& turn, core::TimePoint now) const;
    std::optional<routing::UpstreamIndex> free_one(const Turn& turn, const routing::Tried& taken,
                                                   core::TimePoint now) const;
    core::TimePoint earliest(const Turn& turn, core::TimePoint now) const;
    void run_queue(core::TimePoint now);
    void on_limit(Member& member, core::TimePoint sent_at, core::TimePoint now);

    // Not under the lock.
    void tell_disagreements();
    void call_wake(std::optional<routing::UpstreamIndex> index);

    Pool& pool;
    const config::Chain chain;
    mutable std::mutex mutex;
    std::deque<Member> members;
    chain::ChainView view;
    FailureLog failures;
    Listener listener;
    std::uint64_t told = 0;  // disagreements, by their serial
    core::TimePoint next_scores{};
    core::Published<routing::RoutingSnapshot> published;

    RecentTraffic traffic;

    std::list<std::shared_ptr<Waiter>> queue;
    std::atomic<std::size_t> waiting = 0;  // its length, for those without the lock

    std::mutex wake_mutex;
    Wake wake;

    std::atomic<bool> has_been_fit = false;
    std::atomic<routing::ChainState> state = routing::ChainState::down;
    std::atomic<std::int64_t> last_client_call;
};

}  // namespace weir::upstream
