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
#include <set>
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
        bool in_doubt = false;  // fit for a trial, and not known to be for more
        bool slow_circuit_open = false;
        bool trickle = false;
        bool apart = false;
        std::uint64_t marks = 0;  // their revision
        std::uint64_t reach = 0;
        std::optional<std::uint64_t> history;
        core::TimePoint until{};
        friend bool operator==(const Shown&, const Shown&) = default;
    };

    // What is known of an upstream beyond one configuration.
    struct Record {
        Record(const config::Upstream& upstream, const config::Chain& chain)
            : health(chain.circuit, chain.rate_limits),
              budget(upstream.rate),
              batch(upstream.batch.max_calls, chain.batch.max_upstream_calls),
              state_reach(upstream.history) {}
        // Takes over of `before` what the change of configuration leaves valid.
        Record(const config::Upstream& upstream, const config::Chain& chain, const Record& before,
               const config::Upstream& upstream_before, const config::Chain& chain_before,
               core::TimePoint now);

        routing::UpstreamHealth health;
        routing::Budget budget;
        routing::BatchLimit batch;
        routing::StateReach state_reach;
        std::uint64_t probe_units = 0;
        std::atomic<std::size_t> in_flight = 0;  // read without the lock
    };

    struct Member {
        Member(const config::Upstream& upstream, std::shared_ptr<Record> kept)
            : config(upstream),
              policy(std::make_shared<const routing::MethodPolicy>(upstream.methods)),
              record(std::move(kept)),
              health(record->health),
              budget(record->budget),
              batch(record->batch),
              state_reach(record->state_reach),
              probe_units(record->probe_units),
              in_flight(record->in_flight) {}

        const config::Upstream& config;
        const std::shared_ptr<const routing::MethodPolicy> policy;
        const std::shared_ptr<Record> record;
        routing::UpstreamHealth& health;
        routing::Budget& budget;
        routing::BatchLimit& batch;
        routing::StateReach& state_reach;
        std::uint64_t& probe_units;
        Shown shown;
        const routing::Profile* profile = nullptr;  // none: calls cost the methods' own weights
        std::vector<double> costs;                  // by the method's number
        bool on_trial = false;                      // its circuit is half open
        bool reconnecting = false;  // a connection broke: calls wait until it has told its chain
        core::TimePoint identity_seen_at{};  // when it last told its chain
        routing::Cause head_trouble =
            routing::Cause::answered;  // of the probes since its last head

        // Read without the lock.
        std::atomic<std::size_t>& in_flight;
        std::atomic<std::size_t> limit = 0;  // 0: may not serve
        std::atomic<std::int64_t> rests_until = 0;
    };

    // What a pool shares with those that came before and after it.
    struct Line {
        std::mutex mutex;
        std::vector<Impl*> pools;              // that live
        std::set<std::string> drained;         // upstreams, by name: however they are reached
        std::atomic<std::size_t> waiting = 0;  // calls in their queues, for those without the lock
        RecentTraffic traffic;                 // has a lock of its own
        CallsInFlight calls_in_flight;
        OwnRates own_rates;  // likewise
    };

    Impl(Pool& the_pool, const config::Chain& the_chain, core::TimePoint now);
    Impl(Pool& the_pool, const config::Chain& the_chain, core::TimePoint now,
         const routing::ProviderBook& providers, const Succession& succession);
    ~Impl();
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    // All below under the lock, unless it says otherwise.
    Shown judge(routing::UpstreamIndex index, core::TimePoint now) const;
    std::string reason_of(routing::UpstreamIndex index, const Shown& shown) const;
    void refresh(core::TimePoint now);
    bool others_serve(routing::UpstreamIndex index) const;
    void note_trial(routing::UpstreamIndex index, const routing::Condition& condition,
                    core::TimePoint now);
    void refresh_after(routing::UpstreamIndex index, core::TimePoint now);
    void publish(core::TimePoint now);
    void set_limits();
    routing::ChainState chain_state() const;
    double score_of(routing::UpstreamIndex index, routing::TimeClass time_class) const;
    std::optional<core::Duration> best_latency(routing::TimeClass time_class) const;
    void learn_history(Member& member, const AttemptReport& report);
    void apply(routing::Doubt doubt, routing::UpstreamIndex index);
    bool forgive_alike(const AttemptReport& report);

    enum class Limits : std::uint8_t { learn_anew, keep };
    void apply_profile(Member& member, const routing::ProviderBook& providers, Limits limits);
    void succeed(const Member& old, const config::Upstream& upstream,
                 const config::Chain& chain_before, const routing::ProviderBook& providers,
                 core::TimePoint now);
    void count_waiting();
    // The only place that says what a call costs at an upstream.
    routing::Charge charge_of(routing::UpstreamIndex index, const CallKind& call) const;
    core::TimePoint rest_of(const Member& member) const;
    Obstacle obstacle_to(routing::UpstreamIndex index, const CallKind& call,
                         core::TimePoint now) const;
    Obstacle obstacle_to_newcomer(routing::UpstreamIndex index, const CallKind& call,
                                  core::TimePoint now) const;
    BatchAdmission charge_batch(routing::UpstreamIndex index, std::span<const CallKind> calls,
                                std::size_t charged, core::TimePoint now);
    Permit grant(routing::UpstreamIndex index, const CallKind& call, core::TimePoint now);
    bool is_waited_for(routing::UpstreamIndex index) const;
    std::vector<routing::Charge> queued(std::uint64_t tag, core::TimePoint now) const;
    std::uint64_t next_tag(std::uint64_t share) const;
    std::size_t count_of(std::uint64_t share) const;
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
    const std::shared_ptr<Line> line;
    std::mutex& mutex;
    std::deque<Member> members;
    chain::ChainView view;
    FailureLog failures;
    Listener listener;
    std::uint64_t told = 0;  // disagreements, by their serial
    core::TimePoint next_scores{};
    core::Published<routing::RoutingSnapshot> published;

    // In the order of tags (self-clocked fair queueing, Golestani 1994): a call's tag is one more
    // than that of its share's last call, or than that of the call served last.
    std::list<std::shared_ptr<Waiter>> queue;
    std::uint64_t served_tag = 0;

    std::mutex wake_mutex;
    Wake wake;

    std::atomic<bool> has_been_fit = false;
    std::atomic<routing::ChainState> state = routing::ChainState::down;
    std::atomic<std::int64_t> last_client_call;
};

}  // namespace weir::upstream
