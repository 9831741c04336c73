#include "upstream/poller.hpp"

#include "upstream/probe.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

namespace weir::upstream {

using core::Duration;
using core::TimePoint;

namespace {

constexpr std::size_t kSmallestBound = config::kMiB;  // block headers with many hashes are long

// A part of `span` between the shares `low` and `high`.
Duration spread(Duration span, double low, double high, std::uint64_t random) {
    const double unit = static_cast<double>(random >> 11U) / 9007199254740992.0;  // 2^53
    return std::chrono::duration_cast<Duration>(span * (low + (high - low) * unit));
}

}  // namespace

// One upstream and when it was asked.
struct Poller::Watch {
    Watch(boost::asio::io_context& io, Pool& the_pool, ProbeTarget the_target)
        : pool(the_pool), target(the_target), wake(io) {}

    Pool& pool;
    const ProbeTarget target;
    runtime::Event wake;
    Cancellation* running = nullptr;
    bool urgent = false;  // something is in doubt: ask now, the chain id too
    bool answered_id =
        false;                // its latest check was good, though not yet the third after a bad one
    unsigned failures = 0;    // rounds in a row
    TimePoint identity_at{};  // the latest good check
    TimePoint round_at{};     // the latest round's end
    Duration jitter{};        // of the pause that runs
    struct Tagged {
        TimePoint asked_at{};
        bool lacks = false;
    };
    std::array<Tagged, chain::kAllTags.size()> tagged;
};

struct Poller::Shared {
    Shared(runtime::Worker& the_worker, Transport& the_transport, std::vector<Pool*> the_pools,
           PollPace the_pace)
        : worker(the_worker),
          transport(the_transport),
          pools(std::move(the_pools)),
          pace(the_pace),
          tasks(the_worker.io),
          stopped(the_worker.io) {}

    bool is_idle(const Pool& pool, TimePoint now) const {
        return now - pool.last_client_call() > Pool::kIdleAfter;
    }
    Duration poll_interval(const Pool& pool, TimePoint now) const;
    Duration retry_interval(const Watch& watch, TimePoint now) const;
    Duration jitter(const Watch& watch) const;
    TimePoint identity_due(const Watch& watch) const;
    TimePoint due(const Watch& watch, TimePoint now) const;
    TimePoint next_look(const Watch& watch, TimePoint due, TimePoint now) const;
    TimePoint head_due(const Watch& watch, TimePoint now) const;
    TimePoint tag_due(const Watch& watch, chain::Tag tag, TimePoint now) const;
    void wake(const Pool& pool, std::optional<routing::UpstreamIndex> upstream);

    runtime::Worker& worker;
    Transport& transport;
    const std::vector<Pool*> pools;
    const PollPace pace;
    std::deque<Watch> watches;
    std::deque<runtime::Event> ticks;  // one per chain
    runtime::TaskGroup tasks;
    runtime::Event stopped;
    bool stopping = false;
};

Duration Poller::Shared::poll_interval(const Pool& pool, TimePoint now) const {
    if (const auto& configured = pool.chain().head.poll_interval) {
        return *configured;
    }
    if (is_idle(pool, now)) {
        return pace.idle;
    }
    return std::clamp(pool.block_time(), pace.shortest_auto, pace.longest_auto);
}

Duration Poller::Shared::retry_interval(const Watch& watch, TimePoint now) const {
    const Duration longest = is_idle(watch.pool, now)  ? pace.idle
                             : watch.pool.is_fit_now() ? pace.longest_retry
                                                       : pace.longest_when_down;
    const unsigned doublings = std::min(watch.failures - 1, 10U);
    return std::min(pace.first_retry * (1U << doublings), longest);
}

// Polls never come early: an idle day has a budget. Retries spread to both sides.
Duration Poller::Shared::jitter(const Watch& watch) const {
    const std::uint64_t random = worker.random.next();
    return watch.failures == 0 ? spread(poll_interval(watch.pool, watch.round_at), 0, 0.05, random)
                               : spread(retry_interval(watch, watch.round_at), -0.25, 0.25, random);
}

TimePoint Poller::Shared::identity_due(const Watch& watch) const {
    const Duration interval = watch.pool.chain().head.chain_check_interval;
    if (watch.urgent || watch.identity_at == TimePoint{}) {
        return {};
    }
    if (watch.pool.is_identified(watch.target.upstream)) {
        return watch.identity_at + interval;
    }
    // In quarantine: at the interval until it answers well, then sooner until it is believed.
    return watch.identity_at + (watch.answered_id ? std::min(interval, pace.quarantine) : interval);
}

// When the next round begins. It changes while a pause runs: clients come back, doubts arise.
TimePoint Poller::Shared::due(const Watch& watch, TimePoint now) const {
    const TimePoint rests_until = watch.pool.rests_until(watch.target.upstream);
    if (watch.round_at == TimePoint{}) {
        return std::max(now, rests_until);
    }
    if (watch.urgent) {
        const bool trusted = watch.pool.is_identified(watch.target.upstream);
        return std::max(watch.round_at + (trusted ? pace.first_retry : pace.shortest_gap),
                        rests_until);
    }
    if (watch.failures > 0) {
        return std::max(watch.round_at + retry_interval(watch, now) + watch.jitter, rests_until);
    }
    TimePoint next = identity_due(watch);
    if (watch.pool.is_identified(watch.target.upstream)) {
        next = std::min(next, head_due(watch, now));
        // They wait for a round that comes anyway, but not for long.
        for (const chain::Tag tag : chain::kAllTags) {
            const TimePoint settled = tag_due(watch, tag, now);
            next =
                std::min(next, settled == TimePoint::max() ? settled : settled + pace.settled / 2);
        }
    }
    return std::max({next, watch.round_at + pace.shortest_gap, rests_until});
}

// An answer to a client that showed the head counts as a poll. One that showed only its number
// leaves a block to be asked for soon, where the operator has not said how often to ask.
TimePoint Poller::Shared::head_due(const Watch& watch, TimePoint now) const {
    const TimePoint poll = watch.round_at + poll_interval(watch.pool, now) + watch.jitter;
    const auto seen = watch.pool.head_seen(watch.target.upstream);
    if (!seen || seen->at <= watch.round_at) {
        return poll;
    }
    if (seen->whole) {
        return poll + (seen->at - watch.round_at);
    }
    return watch.pool.chain().head.poll_interval
               ? poll
               : std::min(poll, watch.round_at + pace.shortest_auto);
}

// Never while nobody calls.
TimePoint Poller::Shared::tag_due(const Watch& watch, chain::Tag tag, TimePoint now) const {
    const Watch::Tagged& tagged = watch.tagged[static_cast<std::size_t>(tag)];
    if (is_idle(watch.pool, now)) {
        return TimePoint::max();
    }
    return tagged.asked_at == TimePoint{}
               ? now
               : tagged.asked_at + (tagged.lacks ? pace.settled_lacking : pace.settled);
}

// A poll may become due sooner by what clients are told meanwhile.
TimePoint Poller::Shared::next_look(const Watch& watch, TimePoint due, TimePoint now) const {
    return is_idle(watch.pool, now) ? due : std::min(due, now + pace.shortest_auto);
}

// From any thread, under a lock of the pool's: only posts.
void Poller::Shared::wake(const Pool& pool, std::optional<routing::UpstreamIndex> upstream) {
    boost::asio::post(worker.io, [this, &pool, upstream] {
        for (Watch& watch : watches) {
            if (&watch.pool != &pool || (upstream && *upstream != watch.target.upstream)) {
                continue;
            }
            watch.urgent = watch.urgent || upstream.has_value();
            watch.wake.set();
        }
    });
}

// A question is charged like any call, and goes when the budget has it. False: the upstream rests
// by then, and is not asked.
runtime::Task<bool> Poller::take_turn(Shared& shared, Watch& watch,
                                      const routing::MethodTraits& method) {
    const runtime::Clock& clock = shared.worker.clock;
    const routing::UpstreamIndex upstream = watch.target.upstream;
    if (clock.now() < watch.pool.rests_until(upstream)) {
        co_return false;
    }
    const TimePoint at = watch.pool.charge_probe(upstream, method, clock.now());
    while (clock.now() < at && !shared.stopping) {
        const bool woken = co_await watch.wake.wait_until(at);
        static_cast<void>(woken);
        watch.wake.reset();
    }
    co_return !shared.stopping && clock.now() >= watch.pool.rests_until(upstream);
}

// The chain id is right: so is the upstream, if it has the block that the operator named. Asked
// only of those that are not trusted yet, so that it costs nothing in quiet times.
runtime::Task<bool> Poller::check_checkpoint(Shared& shared, Watch& watch,
                                             Cancellation& cancellation) {
    const routing::UpstreamIndex upstream = watch.target.upstream;
    const config::Checkpoint& checkpoint = watch.pool.chain().checkpoint;
    const bool turn =
        co_await take_turn(shared, watch, routing::find_method("eth_getBlockByNumber"));
    if (!turn) {
        co_return false;
    }
    watch.running = &cancellation;
    const ProbeResult<chain::BlockId> block = co_await ask_block(
        shared.transport, shared.worker.clock, watch.target, checkpoint.number, cancellation);
    watch.running = nullptr;
    if (shared.stopping) {
        co_return false;
    }
    const TimePoint now = shared.worker.clock.now();
    if (!block) {
        watch.pool.observe_failure(upstream, block.error(), now);
        co_return false;
    }
    watch.answered_id = block->hash == checkpoint.hash;
    if (watch.answered_id) {
        watch.pool.observe_chain_id(upstream, watch.pool.chain().chain_id, now);
    } else {
        watch.pool.observe_wrong_checkpoint(upstream, *block, now);
    }
    co_return true;
}

// What is safe and finalized. Not every node can tell, and whether it can says nothing of its
// health.
runtime::Task<> Poller::ask_settled(Shared& shared, Watch& watch, Cancellation& cancellation) {
    const routing::UpstreamIndex upstream = watch.target.upstream;
    for (const chain::Tag tag : chain::kAllTags) {
        if (shared.tag_due(watch, tag, shared.worker.clock.now()) > shared.worker.clock.now()) {
            continue;
        }
        const bool turn =
            co_await take_turn(shared, watch, routing::find_method("eth_getBlockByNumber"));
        if (!turn) {
            co_return;
        }
        watch.running = &cancellation;
        const ProbeResult<std::optional<chain::BlockId>> block = co_await ask_tag(
            shared.transport, shared.worker.clock, watch.target, tag, cancellation);
        watch.running = nullptr;
        if (shared.stopping) {
            co_return;
        }
        const TimePoint now = shared.worker.clock.now();
        Watch::Tagged& tagged = watch.tagged[static_cast<std::size_t>(tag)];
        tagged.asked_at = now;
        if (block) {
            tagged.lacks = !block->has_value();
            watch.pool.observe_tag(upstream, tag, *block, now);
        } else if (block.error().blame != routing::Blame::upstream) {
            watch.pool.observe_failure(upstream, block.error(), now);  // a limit
        }
    }
}

runtime::Task<> Poller::watch_upstream(Shared& shared, Watch& watch) {
    runtime::Worker& worker = shared.worker;
    const routing::UpstreamIndex upstream = watch.target.upstream;
    const routing::MethodTraits& chain_id_method = routing::find_method("eth_chainId");
    const routing::MethodTraits& head_method = routing::find_method("eth_getBlockByNumber");
    while (!shared.stopping) {
        const TimePoint now = worker.clock.now();
        const TimePoint due = shared.due(watch, now);
        if (now < due) {
            const TimePoint look = shared.next_look(watch, due, now);
            const bool woken = co_await watch.wake.wait_until(look);
            static_cast<void>(woken);
            watch.wake.reset();
            continue;
        }

        bool good = true;
        Cancellation cancellation;
        if (shared.identity_due(watch) <= now) {
            const bool turn = co_await take_turn(shared, watch, chain_id_method);
            if (!turn) {
                continue;
            }
            watch.urgent = false;
            watch.running = &cancellation;
            const ProbeResult<std::uint64_t> chain_id =
                co_await ask_chain_id(shared.transport, worker.clock, watch.target, cancellation);
            watch.running = nullptr;
            if (shared.stopping) {
                break;
            }
            const TimePoint then = worker.clock.now();
            if (chain_id) {
                watch.identity_at = then;
                watch.answered_id = *chain_id == watch.pool.chain().chain_id;
                const bool settled = !watch.answered_id || watch.pool.is_identified(upstream) ||
                                     watch.pool.chain().checkpoint.hash.empty();
                if (settled) {
                    watch.pool.observe_chain_id(upstream, *chain_id, then);
                } else {
                    good = co_await check_checkpoint(shared, watch, cancellation);
                }
            } else {
                good = false;
                watch.pool.observe_chain_id_failure(upstream, chain_id.error(), then);
            }
        }
        if (good && watch.pool.is_identified(upstream)) {
            const bool turn = co_await take_turn(shared, watch, head_method);
            if (!turn) {
                continue;
            }
            watch.running = &cancellation;
            const ProbeResult<chain::Observation> head =
                co_await ask_head(shared.transport, worker.clock, watch.target, cancellation);
            watch.running = nullptr;
            if (shared.stopping) {
                break;
            }
            if (head) {
                watch.pool.observe_head(upstream, *head);
                co_await ask_settled(shared, watch, cancellation);
                if (shared.stopping) {
                    break;
                }
            } else {
                good = false;
                watch.pool.observe_failure(upstream, head.error(), worker.clock.now());
            }
        }
        if (!good) {
            watch.identity_at = {};  // what answers next may be another process
            for (Watch::Tagged& tagged : watch.tagged) {
                tagged.lacks = false;
            }
        }
        watch.failures = good ? 0 : watch.failures + 1;
        watch.round_at = worker.clock.now();
        watch.jitter = shared.jitter(watch);
    }
}

runtime::Task<> Poller::tick_pool(Shared& shared, std::size_t chain) {
    constexpr Duration kShortestTick = std::chrono::milliseconds(10);
    runtime::Event& wake = shared.ticks[chain];
    while (!shared.stopping) {
        const TimePoint now = shared.worker.clock.now();
        shared.pools[chain]->observe_wall_clock(shared.worker.clock.wall_now(), now);
        const TimePoint next = std::max(shared.pools[chain]->tick(now), now + kShortestTick);
        const bool woken = co_await wake.wait_until(next);
        static_cast<void>(woken);
    }
}

Poller::Poller(runtime::Worker& worker, Transport& transport, std::vector<Pool*> pools,
               const routing::ProviderBook& providers, PollPace pace, std::size_t first_chain)
    : shared_(std::make_unique<Shared>(worker, transport, std::move(pools), pace)) {
    for (std::size_t chain = 0; chain < shared_->pools.size(); ++chain) {
        Pool& pool = *shared_->pools[chain];
        shared_->ticks.emplace_back(worker.io);
        const config::Chain& config = pool.chain();
        for (routing::UpstreamIndex i = 0; i < config.upstreams.size(); ++i) {
            const ProbeTarget target = {first_chain + chain,
                                        i,
                                        config.timeouts.attempt,
                                        std::max(config.reply_buffer, kSmallestBound),
                                        &providers.get(config.upstreams[i].provider),
                                        config.rate_limits.max_cooldown};
            shared_->watches.emplace_back(worker.io, pool, target);
        }
    }
}

Poller::~Poller() = default;

void Poller::start() {
    Shared& shared = *shared_;
    for (std::size_t chain = 0; chain < shared.pools.size(); ++chain) {
        shared.pools[chain]->on_wake(
            [&shared, pool = shared.pools[chain]](std::optional<routing::UpstreamIndex> upstream) {
                shared.wake(*pool, upstream);
            });
        shared.tasks.spawn(tick_pool(shared, chain));
    }
    for (Watch& watch : shared.watches) {
        shared.tasks.spawn(watch_upstream(shared, watch));
    }
}

runtime::Task<> Poller::stop() {
    Shared& shared = *shared_;
    shared.stopping = true;
    for (Pool* pool : shared.pools) {
        pool->on_wake({});
    }
    for (Watch& watch : shared.watches) {
        watch.wake.set();
        if (watch.running != nullptr) {
            watch.running->cancel();
        }
    }
    for (runtime::Event& tick : shared.ticks) {
        tick.set();
    }
    co_await shared.tasks.join();
    // Wake-ups that were posted before the hooks were taken away.
    co_await boost::asio::post(shared.worker.io, boost::asio::deferred);
}

}  // namespace weir::upstream
