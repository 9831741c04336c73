#include "routing/upstream_health.hpp"

#include <algorithm>

namespace weir::routing {
namespace {

constexpr core::Duration kLeastQuotaRest = std::chrono::minutes(10);  // where no time is known
constexpr unsigned kTrickleCalls = 8;
constexpr core::Duration kTrickleTime = std::chrono::seconds(10);

// Does the verdict say that the upstream itself failed?
bool is_failure(const Verdict& verdict) { return verdict.blame == Blame::upstream; }

bool is_without_reply(Cause cause) {
    return cause == Cause::timeout || cause == Cause::connect_failed ||
           cause == Cause::connection_lost;
}

}  // namespace

// Where nobody is to blame an idle connection ended as it was used again, or the gateway itself
// ended the attempt.
Doubt doubt_after(const Verdict& verdict) {
    switch (verdict.cause) {
        case Cause::connect_failed:
            return is_failure(verdict) ? Doubt::identity : Doubt::none;
        case Cause::connection_lost:
            return Doubt::reconnect;
        case Cause::timeout:
            return is_failure(verdict) ? Doubt::check : Doubt::none;
        default:
            return Doubt::none;
    }
}

UpstreamHealth::UpstreamHealth(const config::Circuit& circuit, const config::RateLimits& limits)
    : breaker_(circuit.failures, circuit.open_for),
      slow_breaker_(circuit.failures, circuit.open_for),
      cooldown_(limits.default_cooldown, limits.max_cooldown),
      quota_(kLeastQuotaRest, std::chrono::hours(24)) {}

Doubt UpstreamHealth::on_attempt(const AttemptRecord& attempt) {
    switch (attempt.verdict.cause) {
        case Cause::rate_limited:
        case Cause::quota_exhausted:
            stats_.record(AttemptResult::throttled, attempt.traits->time_class, attempt.latency,
                          attempt.at);
            rest(attempt.verdict, attempt.at);
            return Doubt::none;
        case Cause::method_unsupported:
        case Cause::plan_lacks_method:
            marks_.refuse(attempt.method, attempt.call_hash, attempt.at);
            return Doubt::none;
        case Cause::auth_failed:
            return on_refused_credentials(attempt);
        case Cause::batch_too_large:
        case Cause::state_missing:
        case Cause::block_unknown:
            return Doubt::none;  // a quick refusal says nothing of how well calls are served
        default:
            break;
    }
    if (is_failure(attempt.verdict)) {
        on_failure(attempt);
    } else if (!is_without_reply(attempt.verdict.cause)) {
        on_success(attempt);
    }
    return doubt_after(attempt.verdict);
}

void UpstreamHealth::on_success(const AttemptRecord& attempt) {
    stats_.record(AttemptResult::success, attempt.traits->time_class, attempt.latency, attempt.at);
    breaker_.on_success(attempt.at);
    if (attempt.traits->time_class == TimeClass::slow) {
        slow_breaker_.on_success(attempt.at);
    }
    if (!marks_.empty() && attempt.verdict.cause == Cause::answered) {
        marks_.succeed(attempt.method);
    }
    auth_suspected_ = false;
    if (trickle_left_ > 0) {
        --trickle_left_;
    }
}

void UpstreamHealth::on_failure(const AttemptRecord& attempt) {
    last_trouble_ = attempt.verdict.cause;
    stats_.record(AttemptResult::failure, attempt.traits->time_class, attempt.latency, attempt.at);
    const bool late_and_slow =
        attempt.verdict.cause == Cause::timeout && attempt.traits->time_class == TimeClass::slow;
    const Proof proof =
        attempt.verdict.cause == Cause::connect_failed ? Proof::connection : Proof::reply;
    CircuitBreaker& breaker = late_and_slow ? slow_breaker_ : breaker_;
    breaker.on_failure(proof, attempt.call_hash, attempt.at);
}

// One refusal may be about the call; two different calls in a row, or a probe, are proof.
Doubt UpstreamHealth::on_refused_credentials(const AttemptRecord& attempt) {
    last_trouble_ = Cause::auth_failed;
    stats_.record(AttemptResult::failure, attempt.traits->time_class, attempt.latency, attempt.at);
    if (auth_suspected_ && auth_call_ != attempt.call_hash) {
        auth_failed_ = true;
    }
    const bool first = !auth_suspected_;
    auth_suspected_ = true;
    auth_call_ = attempt.call_hash;
    return first ? Doubt::check : Doubt::none;
}

void UpstreamHealth::rest(const Verdict& verdict, core::TimePoint now) {
    last_trouble_ = verdict.cause;
    if (verdict.cause == Cause::quota_exhausted) {
        quota_.start(verdict.retry_after ? *verdict.retry_after : renews_at_ - now, now);
    } else {
        cooldown_.start(verdict.retry_after, now);
    }
}

Doubt UpstreamHealth::on_probe_failure(const Verdict& verdict, core::TimePoint now) {
    switch (verdict.cause) {
        case Cause::rate_limited:
        case Cause::quota_exhausted:
            rest(verdict, now);
            return Doubt::none;
        case Cause::auth_failed:
            last_trouble_ = verdict.cause;
            auth_failed_ = true;
            return Doubt::none;
        default:
            break;
    }
    if (verdict.blame != Blame::upstream) {
        return Doubt::none;
    }
    last_trouble_ = verdict.cause;
    const bool connection = verdict.cause == Cause::connect_failed;
    breaker_.on_failure(connection ? Proof::connection : Proof::probe, 0, now);
    return connection ? Doubt::identity : Doubt::none;
}

void UpstreamHealth::on_probe_success(core::TimePoint now) {
    breaker_.on_probe_success(now);
    auth_failed_ = false;
    auth_suspected_ = false;
}

void UpstreamHealth::forgive(std::uint64_t call_hash) {
    const std::size_t forgiven = breaker_.forgive(call_hash) + slow_breaker_.forgive(call_hash);
    for (std::size_t i = 0; i < forgiven; ++i) {
        stats_.forgive();
    }
}

Condition UpstreamHealth::condition(core::TimePoint now) const {
    using State = CircuitBreaker::State;
    Condition condition;
    condition.auth_failed = auth_failed_;
    condition.quota_spent = quota_.active(now);
    condition.cooling_down = cooldown_.active(now);
    const State state = breaker_.state(now);
    condition.circuit_open = state == State::open;
    condition.half_open = state == State::half_open;
    condition.in_doubt = breaker_.is_in_doubt(now);
    condition.slow_circuit_open = slow_breaker_.state(now) == State::open;
    if (condition.quota_spent || condition.cooling_down) {
        condition.until = rests_until();
    } else if (condition.circuit_open) {
        condition.until = breaker_.half_opens_at();
    }
    return condition;
}

void UpstreamHealth::begin_trickle(core::TimePoint now) {
    trickle_left_ = kTrickleCalls;
    trickle_until_ = now + kTrickleTime;
}

bool UpstreamHealth::is_trickling(core::TimePoint now) const {
    return trickle_left_ > 0 && now < trickle_until_;
}

}  // namespace weir::routing
