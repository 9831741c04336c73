#include "upstream/pool_impl.hpp"

#include "routing/provider_book.hpp"
#include "routing/score.hpp"

#include <algorithm>
#include <utility>

namespace weir::upstream {

using routing::ChainState;
using routing::Condition;
using routing::Doubt;
using routing::TimeClass;
using routing::UpstreamIndex;
using routing::UpstreamState;

namespace {

// Scores are put into the picture at most so often; changes of state at once.
constexpr core::Duration kScoreInterval = std::chrono::milliseconds(250);

// A hedge is sent when so many of an upstream's answers would have come.
constexpr double kHedgeQuantile = 0.95;

chain::ChainRules rules_of(const config::Chain& chain) {
    chain::ChainRules rules;
    rules.chain_id = chain.chain_id;
    rules.upstreams = chain.upstreams.size();
    rules.block_time = chain.block_time;
    rules.max_lag_blocks = chain.head.max_lag_blocks;
    rules.max_lag_time = chain.head.max_lag_time;
    rules.max_jump_blocks = chain.head.max_jump_blocks;
    return rules;
}

// Does a probe that ended so leave an upstream without a head, though its calls may go well?
bool hides_head(routing::Cause cause) {
    return cause == routing::Cause::bad_reply || cause == routing::Cause::server_error ||
           cause == routing::Cause::timeout;
}

}  // namespace

Pool::Impl::Impl(Pool& the_pool, const config::Chain& the_chain, core::TimePoint now)
    : pool(the_pool),
      chain(the_chain),
      line(std::make_shared<Line>()),
      mutex(line->mutex),
      view(rules_of(the_chain)),
      published(std::make_shared<const routing::RoutingSnapshot>()),
      last_client_call(ticks(now)) {
    for (const config::Upstream& upstream : chain.upstreams) {
        members.emplace_back(upstream, std::make_shared<Record>(upstream, chain));
    }
    const std::lock_guard lock(mutex);
    line->pools.push_back(this);
    publish(now);
}

Pool::Impl::Impl(Pool& the_pool, const config::Chain& the_chain, core::TimePoint now,
                 const routing::ProviderBook& providers, const Succession& succession)
    : pool(the_pool),
      chain(the_chain),
      line(succession.before.impl_->line),
      mutex(line->mutex),
      view(rules_of(the_chain)),
      published(std::make_shared<const routing::RoutingSnapshot>()),
      last_client_call(succession.before.impl_->last_client_call.load()) {
    const Impl& before = *succession.before.impl_;
    const std::lock_guard lock(mutex);
    view = chain::ChainView(rules_of(the_chain), before.view, succession.places);
    told = before.told;
    has_been_fit.store(before.has_been_fit.load());
    for (UpstreamIndex i = 0; i < chain.upstreams.size(); ++i) {
        const config::Upstream& upstream = chain.upstreams[i];
        if (!succession.places[i]) {
            members.emplace_back(upstream, std::make_shared<Record>(upstream, chain));
            apply_profile(members.back(), providers, Limits::learn_anew);
            continue;
        }
        succeed(before.members[*succession.places[i]], upstream, before.chain, providers, now);
    }
    line->pools.push_back(this);
    publish(now);
}

// An upstream that was there goes on: as the very same one, or where its limits have changed as one
// that begins with what the change leaves valid.
void Pool::Impl::succeed(const Member& old, const config::Upstream& upstream,
                         const config::Chain& chain_before, const routing::ProviderBook& providers,
                         core::TimePoint now) {
    const bool same_batch =
        upstream.batch == old.config.batch && chain.batch == chain_before.batch &&
        old.profile != nullptr &&
        providers.get(upstream.provider).batch_max() == old.profile->batch_max();
    const bool same =
        same_batch && upstream.rate == old.config.rate && upstream.history == old.config.history &&
        chain.circuit == chain_before.circuit && chain.rate_limits == chain_before.rate_limits;
    members.emplace_back(upstream, same ? old.record
                                        : std::make_shared<Record>(upstream, chain, *old.record,
                                                                   old.config, chain_before, now));
    Member& member = members.back();
    apply_profile(member, providers, same_batch ? Limits::keep : Limits::learn_anew);
    member.shown = old.shown;
    member.head_trouble = old.head_trouble;
}

Pool::Impl::~Impl() {
    const std::lock_guard lock(mutex);
    std::erase(line->pools, this);
    count_waiting();
}

Pool::Impl::Record::Record(const config::Upstream& upstream, const config::Chain& chain,
                           const Record& before, const config::Upstream& upstream_before,
                           const config::Chain& chain_before, core::TimePoint now)
    : Record(upstream, chain) {
    if (chain.circuit == chain_before.circuit && chain.rate_limits == chain_before.rate_limits) {
        health = before.health;
    }
    budget = upstream.rate == upstream_before.rate
                 ? before.budget
                 : routing::Budget(upstream.rate, before.budget, now);
    if (upstream.batch == upstream_before.batch && chain.batch == chain_before.batch) {
        batch = before.batch;
    }
    if (upstream.history == upstream_before.history) {
        state_reach = before.state_reach;
    }
    probe_units = before.probe_units;
}

Pool::Impl::Shown Pool::Impl::judge(UpstreamIndex index, core::TimePoint now) const {
    const Member& member = members[index];
    const Condition condition = member.health.condition(now);
    const chain::Identity identity = view.identity(index);
    const chain::Standing standing = view.standing(index);

    Shown shown;
    shown.identified = identity == chain::Identity::right;
    shown.apart = view.is_apart(index);
    shown.half_open = condition.half_open;
    shown.in_doubt = condition.in_doubt;
    shown.slow_circuit_open = condition.slow_circuit_open;
    shown.until = condition.until;
    shown.marks = member.health.marks().revision();
    shown.history = member.state_reach.blocks();
    shown.reach = view.latest(index) ? view.latest(index)->latest.number : 0;
    shown.trickle = condition.half_open || member.health.is_trickling(now);
    // With one upstream no head rule ever refuses a call.
    const bool head_needed = chain.upstreams.size() > 1;
    if (line->drained.contains(member.config.name)) {
        shown.state = UpstreamState::drained;
    } else if (identity == chain::Identity::wrong) {
        shown.state = UpstreamState::wrong_chain;
    } else if (condition.auth_failed) {
        shown.state = UpstreamState::auth_failed;
    } else if (condition.quota_spent || member.budget.is_spent()) {
        shown.state = UpstreamState::quota_spent;
        shown.until = rest_of(member);
    } else if (condition.cooling_down) {
        shown.state = UpstreamState::cooling_down;
    } else if (condition.circuit_open) {
        shown.state = UpstreamState::circuit_open;
    } else if (!shown.identified || (head_needed && standing == chain::Standing::unknown)) {
        shown.state = UpstreamState::unknown;
    } else if (standing == chain::Standing::lagging || standing == chain::Standing::implausible) {
        shown.state = UpstreamState::lagging;
    } else {
        shown.state = UpstreamState::fit;
    }
    return shown;
}

std::string Pool::Impl::reason_of(UpstreamIndex index, const Shown& shown) const {
    const Member& member = members[index];
    const std::string trouble(to_string(member.health.last_trouble()));
    const bool troubled = member.health.last_trouble() != routing::Cause::answered;
    switch (shown.state) {
        case UpstreamState::fit:
            return shown.apart       ? "its blocks differ from the others'"
                   : shown.half_open ? "on trial after failures (last: " + trouble + ")"
                   : hides_head(member.head_trouble)
                       ? "serves, but its head is not known: probes fail (last: " +
                             std::string(to_string(member.head_trouble)) + ")"
                   : shown.trickle ? "new or recovering: a trickle of traffic"
                                   : "";
        case UpstreamState::lagging:
            return view.standing(index) == chain::Standing::implausible
                       ? "its head is implausibly far ahead of the others"
                       : std::to_string(view.lag(index)) + " blocks behind";
        case UpstreamState::wrong_chain:
            return "says chain id " + std::to_string(view.reported_chain_id(index).value_or(0)) +
                   ", not " + std::to_string(chain.chain_id);
        case UpstreamState::cooling_down:
            return "rate limited";
        case UpstreamState::quota_spent:
            return members[index].budget.is_spent() ? "its daily allowance is spent"
                                                    : "its plan is spent";
        case UpstreamState::auth_failed:
            return "it refuses the credentials";
        case UpstreamState::circuit_open:
            return "too many failures (last: " + trouble + ")";
        case UpstreamState::unknown:
            return (shown.identified ? std::string("no head seen yet")
                                     : std::string("chain id not checked yet")) +
                   (troubled ? " (last: " + trouble + ")" : "");
        case UpstreamState::drained:
            return "drained by an operator";
    }
    return "";
}

std::optional<core::Duration> Pool::Impl::best_latency(TimeClass time_class) const {
    std::optional<core::Duration> best;
    for (const Member& member : members) {
        const auto latency = member.health.stats().mean_latency(time_class);
        if (latency && (!best || *latency < *best)) {
            best = latency;
        }
    }
    return best;
}

double Pool::Impl::score_of(UpstreamIndex index, TimeClass time_class) const {
    const routing::HealthStats& stats = members[index].health.stats();
    routing::ScoreInput input;
    input.success = stats.success_estimate();
    input.throttled = stats.throttled_share();
    input.latency = stats.mean_latency(time_class);
    input.best_latency = best_latency(time_class);
    input.lag_blocks = view.lag(index);
    return routing::score(input);
}

ChainState Pool::Impl::chain_state() const {
    bool any_left = false;
    for (const Member& member : members) {
        const UpstreamState state = member.shown.state;
        if (state == UpstreamState::fit && !member.shown.in_doubt) {
            return view.is_degraded() ? ChainState::degraded : ChainState::ok;
        }
        any_left = any_left || state == UpstreamState::fit ||
                   (member.shown.identified &&
                    (state == UpstreamState::lagging || state == UpstreamState::cooling_down ||
                     state == UpstreamState::circuit_open));
    }
    return any_left ? ChainState::degraded : ChainState::down;
}

// A half-open upstream gets one call at a time, unless there is nobody else to ask.
void Pool::Impl::set_limits() {
    const bool others = std::any_of(members.begin(), members.end(), [](const Member& m) {
        return m.shown.state == UpstreamState::fit && !m.shown.half_open;
    });
    for (Member& member : members) {
        std::size_t limit = member.config.max_in_flight;
        const UpstreamState shown = member.shown.state;
        if (!member.shown.identified || shown == UpstreamState::auth_failed ||
            shown == UpstreamState::wrong_chain || shown == UpstreamState::drained) {
            limit = 0;
        } else if (member.shown.half_open && others) {
            limit = 1;
        }
        member.limit.store(limit, std::memory_order_relaxed);
        member.rests_until.store(ticks(rest_of(member)), std::memory_order_relaxed);
    }
}

// Looks at everybody; publishes when anything but a score has changed, or scores are due.
void Pool::Impl::refresh(core::TimePoint now) {
    for (UpstreamIndex i = 0; i < members.size(); ++i) {
        const Condition condition = members[i].health.condition(now);
        note_trial(i, condition, now);
        view.set_counted(i,
                         !condition.auth_failed && !condition.quota_spent &&
                             !condition.circuit_open && !members[i].budget.is_spent(),
                         now);
        if (condition.cooling_down) {
            view.observe_silence(i, now);
        }
    }
    view.refresh(now);
    const std::shared_ptr<const routing::RoutingSnapshot> before = published.get();
    bool changed = view.head() != before->head || view.is_provisional() != before->provisional ||
                   view.fall_backs() != before->fall_backs;
    for (UpstreamIndex i = 0; i < members.size(); ++i) {
        members[i].health.marks().expire(now);
        members[i].state_reach.expire(now);
        changed = changed || judge(i, now) != members[i].shown;
    }
    if (changed || now >= next_scores) {
        publish(now);
    }
}

// After an illness another process may answer under the same name: where others can serve, the
// upstream is asked for its chain before a client's call tries it.
void Pool::Impl::note_trial(UpstreamIndex index, const Condition& condition, core::TimePoint now) {
    Member& member = members[index];
    const bool before = std::exchange(member.on_trial, condition.half_open);
    const bool begins = condition.half_open && !before;
    if (begins && others_serve(index) && member.identity_seen_at < now) {
        view.doubt_identity(index);
        call_wake(index);
    }
}

bool Pool::Impl::others_serve(UpstreamIndex index) const {
    return std::any_of(members.begin(), members.end(), [&](const Member& other) {
        return &other != &members[index] && other.shown.state == UpstreamState::fit &&
               !other.shown.half_open;
    });
}

// The same for one upstream after an attempt: cheap when nothing has changed.
void Pool::Impl::refresh_after(UpstreamIndex index, core::TimePoint now) {
    if (now >= next_scores || judge(index, now) != members[index].shown) {
        refresh(now);
    }
}

void Pool::Impl::publish(core::TimePoint now) {
    auto next = std::make_shared<routing::RoutingSnapshot>();
    next->upstreams.reserve(members.size());
    for (Member& member : members) {
        member.health.fade(now);
    }
    for (UpstreamIndex i = 0; i < members.size(); ++i) {
        Member& member = members[i];
        Shown shown = judge(i, now);
        const UpstreamState before = member.shown.state;
        const bool recovers = shown.state == UpstreamState::fit && before != UpstreamState::fit &&
                              before != UpstreamState::lagging &&
                              before != UpstreamState::cooling_down;
        if (recovers) {
            member.health.begin_trickle(now);
            shown = judge(i, now);
        }
        member.shown = shown;

        routing::UpstreamView out;
        out.state = shown.state;
        out.reason = reason_of(i, shown);
        out.identified = shown.identified;
        out.tier = member.config.tier;
        out.weight = member.config.weight;
        out.score = score_of(i, TimeClass::fast);
        out.slow_score = score_of(i, TimeClass::slow);
        if (const auto& latest = view.latest(i)) {
            out.head = latest->latest;
            out.head_parent = latest->parent_hash;
            out.head_at = latest->at;
            if (members.size() > 1) {
                out.reach = {latest->latest.number, latest->at};
            }
        }
        out.settled = view.tagged().of(i);
        out.lag_blocks = view.lag(i);
        out.implausible = view.standing(i) == chain::Standing::implausible;
        out.apart = shown.apart;
        out.history = shown.history;
        out.hedge_after =
            member.health.stats().latency_quantile(kHedgeQuantile).value_or(core::Duration::zero());
        if (shown.state == UpstreamState::cooling_down ||
            shown.state == UpstreamState::quota_spent) {
            out.available_at = shown.until;
        }
        out.slow_circuit_open = shown.slow_circuit_open;
        out.in_doubt = shown.in_doubt;
        out.trickle = shown.trickle;
        out.unsupported_methods = member.health.marks().marked();
        out.policy = member.policy;
        next->upstreams.push_back(std::move(out));
    }
    set_limits();
    next->state = chain_state();
    next->head = view.head();
    next->head_at = view.head_at();
    next->head_block = view.head_block();
    next->settled = view.settled();
    next->block_time = view.block_time();
    next->max_jump_blocks = chain.head.max_jump_blocks;
    next->provisional = view.is_provisional();
    next->fall_backs = view.fall_backs();
    state.store(next->state, std::memory_order_relaxed);
    const bool any_fit = std::any_of(members.begin(), members.end(), [](const Member& m) {
        return m.shown.state == UpstreamState::fit;
    });
    if (any_fit) {
        has_been_fit.store(true, std::memory_order_relaxed);
    }
    published.publish(std::move(next));
    next_scores = now + kScoreInterval;
    run_queue(now);
}

// What a call for old state came to says how far back the upstream's state reaches.
void Pool::Impl::learn_history(Member& member, const AttemptReport& report) {
    if (!report.state_block || !view.head() || *report.state_block > view.head()->number) {
        return;
    }
    const std::uint64_t depth = view.head()->number - *report.state_block;
    if (report.verdict.cause == routing::Cause::state_missing) {
        member.state_reach.refuse(depth, report.at);
    } else if (report.verdict.cause == routing::Cause::answered) {
        member.state_reach.serve(depth);
    }
}

void Pool::Impl::apply(Doubt doubt, UpstreamIndex index) {
    if (doubt == Doubt::identity) {
        view.doubt_identity(index);
    }
    members[index].reconnecting = members[index].reconnecting || doubt == Doubt::reconnect;
}

void Pool::Impl::call_wake(std::optional<UpstreamIndex> index) {
    const std::lock_guard lock(wake_mutex);
    if (wake) {
        wake(index);
    }
}

// The same call failed alike at another upstream, or others of its method did: it counts against
// nobody.
bool Pool::Impl::forgive_alike(const AttemptReport& report) {
    FailureLog::Entry entry{.call_hash = report.call_hash,
                            .method_hash = std::hash<std::string_view>{}(report.method),
                            .cause = report.verdict.cause,
                            .upstream = report.upstream,
                            .at = report.at};
    const std::vector<UpstreamIndex> others = failures.alike(entry);
    entry.failed_alike = !others.empty();
    for (const UpstreamIndex other : others) {
        members[other].health.forgive(report.call_hash);
    }
    if (!entry.failed_alike && failures.blames_method(entry)) {
        return true;  // and not remembered: many of these would push out what they rest on
    }
    failures.add(entry);
    return entry.failed_alike;
}

}  // namespace weir::upstream
