#include "upstream/pool.hpp"

#include "upstream/pool_impl.hpp"

#include <algorithm>
#include <utility>

namespace weir::upstream {

using routing::Doubt;
using routing::UpstreamIndex;

namespace {

core::TimePoint time_of(std::int64_t ticks) { return core::TimePoint(core::Duration(ticks)); }

// A failure that its own call may have caused. A connection that fails has no call to blame.
bool may_be_the_calls_fault(const routing::Verdict& verdict) {
    return verdict.blame == routing::Blame::upstream &&
           verdict.cause != routing::Cause::connect_failed;
}

}  // namespace

Permit::Permit(Permit&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), upstream_(other.upstream_) {}

Permit& Permit::operator=(Permit&& other) noexcept {
    if (this != &other) {
        if (pool_ != nullptr) {
            pool_->release(upstream_);
        }
        pool_ = std::exchange(other.pool_, nullptr);
        upstream_ = other.upstream_;
    }
    return *this;
}

Permit::~Permit() {
    if (pool_ != nullptr) {
        pool_->release(upstream_);
    }
}

Pool::Pool(const config::Chain& chain, core::TimePoint now)
    : impl_(std::make_unique<Impl>(*this, chain, now)) {}

Pool::Pool(const config::Chain& chain, core::TimePoint now, const routing::ProviderBook& providers)
    : Pool(chain, now) {
    for (Impl::Member& member : impl_->members) {
        impl_->apply_profile(member, providers, Impl::Limits::learn_anew);
    }
}

Pool::Pool(const config::Chain& chain, core::TimePoint now, const routing::ProviderBook& providers,
           const Succession& succession)
    : impl_(std::make_unique<Impl>(*this, chain, now, providers, succession)) {}

Pool::~Pool() = default;

const config::Chain& Pool::chain() const { return impl_->chain; }

const core::Published<routing::RoutingSnapshot>& Pool::snapshots() const {
    return impl_->published;
}

void Pool::report(const AttemptReport& report) {
    Doubt doubt = Doubt::none;
    {
        const std::lock_guard lock(impl_->mutex);
        const bool forgiven =
            may_be_the_calls_fault(report.verdict) && impl_->forgive_alike(report);
        Impl::Member& member = impl_->members[report.upstream];
        doubt = forgiven ? routing::doubt_after(report.verdict)
                         : member.health.on_attempt({report.method, report.traits, report.verdict,
                                                     report.latency, report.call_hash, report.at});
        impl_->apply(doubt, report.upstream);
        impl_->learn_history(member, report);
        if (report.verdict.cause == routing::Cause::rate_limited) {
            impl_->on_limit(member, report.at - report.latency, report.at);
        } else if (report.verdict.disposition == routing::Disposition::answer) {
            member.budget.on_answer(report.answers, report.at);
        }
        if (report.verdict.cause == routing::Cause::answered) {
            member.batch.on_single_answer();
        }
        impl_->refresh_after(report.upstream, report.at);
        impl_->run_queue(report.at);
    }
    if (doubt != Doubt::none) {
        impl_->call_wake(report.upstream);
    }
}

void Pool::observe_chain_id(UpstreamIndex upstream, std::uint64_t chain_id, core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    impl_->view.observe_chain_id(upstream, chain_id, now);
    impl_->members[upstream].identity_seen_at = now;
    impl_->members[upstream].reconnecting = false;
    impl_->members[upstream].health.on_probe_success(now);
    impl_->refresh(now);
    impl_->run_queue(now);
}

void Pool::observe_head(UpstreamIndex upstream, const chain::Observation& observation) {
    const std::lock_guard lock(impl_->mutex);
    impl_->members[upstream].health.on_probe_success(observation.at);
    impl_->members[upstream].budget.on_answer(1, observation.at);
    impl_->members[upstream].head_trouble = routing::Cause::answered;
    impl_->view.observe_head(upstream, observation);
    impl_->refresh(observation.at);
}

void Pool::observe_tag(UpstreamIndex upstream, chain::Tag tag,
                       const std::optional<chain::BlockId>& block, core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    impl_->view.observe_tag(upstream, tag, block, now);
    impl_->publish(now);
}

void Pool::observe_failure(UpstreamIndex upstream, const routing::Verdict& verdict,
                           core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    Impl::Member& member = impl_->members[upstream];
    member.head_trouble = verdict.cause;
    impl_->view.observe_silence(upstream, now);
    impl_->apply(member.health.on_probe_failure(verdict, now), upstream);
    if (verdict.cause == routing::Cause::rate_limited) {
        impl_->on_limit(member, now, now);
    }
    impl_->refresh(now);
}

void Pool::observe_chain_id_failure(UpstreamIndex upstream, const routing::Verdict& verdict,
                                    core::TimePoint now) {
    observe_failure(upstream, verdict, now);
    const std::lock_guard lock(impl_->mutex);
    impl_->members[upstream].reconnecting = false;
    impl_->run_queue(now);
}

void Pool::observe_wrong_checkpoint(UpstreamIndex upstream, const chain::BlockId& block,
                                    core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    impl_->view.observe_wrong_checkpoint(upstream, block, now);
    impl_->members[upstream].reconnecting = false;
    impl_->refresh(now);
}

void Pool::observe_answer(UpstreamIndex upstream, const chain::Observation& observation) {
    const std::lock_guard lock(impl_->mutex);
    impl_->view.observe_answer(upstream, observation);
    impl_->publish(observation.at);
}

void Pool::drain(UpstreamIndex upstream, core::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    impl_->line->drained.insert(impl_->members[upstream].config.name);
    impl_->refresh(now);
}

void Pool::resume(UpstreamIndex upstream, core::TimePoint now) {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->line->drained.erase(impl_->members[upstream].config.name);
        impl_->members[upstream].health.end_quota_rest();
        impl_->refresh(now);
    }
    impl_->call_wake(upstream);
}

std::vector<chain::Disagreement> Pool::disagreements() const {
    const std::lock_guard lock(impl_->mutex);
    const auto& kept = impl_->view.evidence().kept();
    return {kept.begin(), kept.end()};
}

void Pool::note(chain::Disagreement disagreement) {
    const std::lock_guard lock(impl_->mutex);
    impl_->view.note(std::move(disagreement));
}

void Pool::on_disagreement(Listener listener) { impl_->listener = std::move(listener); }

// Not under the lock: who listens may take its time.
void Pool::Impl::tell_disagreements() {
    std::vector<chain::Disagreement> news;
    {
        const std::lock_guard lock(mutex);
        for (const chain::Disagreement& each : view.evidence().kept()) {
            if (each.serial > told) {
                told = each.serial;
                news.push_back(each);
            }
        }
    }
    for (const chain::Disagreement& each : news) {
        if (listener) {
            listener(each);
        }
    }
}

core::TimePoint Pool::tick(core::TimePoint now) {
    impl_->tell_disagreements();
    const std::lock_guard lock(impl_->mutex);
    impl_->refresh(now);
    core::TimePoint next = now + std::chrono::seconds(1);
    for (const Impl::Member& member : impl_->members) {
        if (member.shown.until > now) {
            next = std::min(next, member.shown.until);
        }
    }
    return next;
}

bool Pool::has_been_fit() const { return impl_->has_been_fit.load(std::memory_order_relaxed); }

bool Pool::is_fit_now() const {
    return impl_->state.load(std::memory_order_relaxed) != routing::ChainState::down;
}

core::TimePoint Pool::rests_until(UpstreamIndex upstream) const {
    return time_of(impl_->members[upstream].rests_until.load(std::memory_order_relaxed));
}

bool Pool::is_identified(UpstreamIndex upstream) const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->view.identity(upstream) == chain::Identity::right &&
           !impl_->members[upstream].reconnecting;
}

std::optional<Pool::HeadSeen> Pool::head_seen(UpstreamIndex upstream) const {
    const std::lock_guard lock(impl_->mutex);
    const std::optional<chain::Observation>& latest = impl_->view.latest(upstream);
    return latest ? std::optional(HeadSeen{latest->at, !latest->latest.hash.empty()})
                  : std::nullopt;
}

core::Duration Pool::block_time() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->view.block_time();
}

void Pool::on_wake(Wake wake) {
    const std::lock_guard lock(impl_->wake_mutex);
    impl_->wake = std::move(wake);
}

void Pool::note_client_call(core::TimePoint now) {
    // Threads share this line; it is written seldom.
    constexpr core::Duration kResolution = std::chrono::milliseconds(100);
    const core::TimePoint before = last_client_call();
    if (now - before < kResolution) {
        return;
    }
    impl_->last_client_call.store(ticks(now), std::memory_order_relaxed);
    if (now - before >= kIdleAfter) {
        impl_->call_wake(std::nullopt);
    }
}

core::TimePoint Pool::last_client_call() const {
    return time_of(impl_->last_client_call.load(std::memory_order_relaxed));
}

RecentTraffic& Pool::traffic() { return impl_->line->traffic; }

OwnRates& Pool::own_rates() { return impl_->line->own_rates; }

CallsInFlight& Pool::calls_in_flight() { return impl_->line->calls_in_flight; }

std::vector<UpstreamStatus> Pool::status(core::TimePoint now) const {
    const std::lock_guard lock(impl_->mutex);
    std::vector<UpstreamStatus> rows;
    for (UpstreamIndex i = 0; i < impl_->members.size(); ++i) {
        const Impl::Member& member = impl_->members[i];
        const Impl::Shown shown = impl_->judge(i, now);
        const routing::HealthStats& stats = member.health.stats();
        UpstreamStatus row;
        row.name = member.config.name;
        row.tier = member.config.tier;
        const bool in_doubt = shown.state == routing::UpstreamState::fit && shown.in_doubt;
        row.state = in_doubt ? routing::UpstreamState::circuit_open : shown.state;
        row.reason = impl_->reason_of(i, shown);
        if (impl_->view.latest(i)) {
            row.head = impl_->view.latest(i)->latest;
        }
        row.settled = impl_->view.tagged().of(i);
        row.lag_blocks = impl_->view.lag(i);
        row.apart = shown.apart;
        row.score = impl_->score_of(i, routing::TimeClass::fast);
        row.success_rate = stats.success_rate();
        row.throttled_share = stats.throttled_share();
        row.latency_p50 = stats.latency_quantile(0.5);
        row.latency_p95 = stats.latency_quantile(0.95);
        row.in_flight = member.in_flight.load(std::memory_order_relaxed);
        row.batch_limit = member.batch.known().value_or(0);
        row.cooldown = std::max(impl_->rest_of(member) - now, core::Duration::zero());
        const config::Rate& rate = member.config.rate;
        const std::optional<double> learned = member.budget.learned_rate();
        row.rate_is_learned = learned.has_value();
        row.calls_per_second =
            rate.calls_per_second > 0 ? std::optional(rate.calls_per_second) : learned;
        row.units_per_second = rate.units_per_second;
        row.units_per_day = rate.units_per_day;
        row.units_today = member.budget.units_today();
        if (rate.units_per_day != 0 && member.budget.renews_at() != core::TimePoint::max()) {
            row.renews_in = std::max(member.budget.renews_at() - now, core::Duration::zero());
        }
        row.probe_units = member.probe_units;
        row.unsupported_methods = member.health.marks().marked();
        for (const chain::Tag tag : chain::kAllTags) {
            if (impl_->view.tagged().lacks(i, tag)) {
                row.unsupported_tags.push_back(tag);
            }
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace weir::upstream
