// One upstream's passive health: what attempts and probes came to, and what follows from it. Not
// synchronized; time is a parameter.
#pragma once

#include "config/config.hpp"
#include "core/time.hpp"
#include "routing/circuit_breaker.hpp"
#include "routing/cooldown.hpp"
#include "routing/health.hpp"
#include "routing/method_marks.hpp"
#include "routing/methods.hpp"
#include "routing/verdict.hpp"

#include <cstdint>
#include <string_view>

namespace weir::routing {

// One finished attempt.
struct AttemptRecord {
    std::string_view method;
    const MethodTraits* traits = nullptr;
    Verdict verdict;
    core::Duration latency{};
    std::uint64_t call_hash = 0;
    core::TimePoint at;
};

// What the rest of the pool has to do about it.
enum class Doubt : std::uint8_t {
    none,
    identity,   // no connection: another process may answer next, so none is trusted
    reconnect,  // a connection broke in a call: the next may lead to another process, so calls wait
                // until a probe has told
    check,      // no answer in time, credentials refused once: a probe shall tell
};

// What a failure to get any reply says of who answers next.
Doubt doubt_after(const Verdict& verdict);

// Health alone: the chain's view (identity, head) comes on top of it.
struct Condition {
    bool auth_failed = false;
    bool quota_spent = false;
    bool cooling_down = false;
    bool circuit_open = false;
    bool half_open = false;
    bool in_doubt = false;  // half-open, and not even a probe was good since
    bool slow_circuit_open = false;
    core::TimePoint until{};  // end of the pause, or when the circuit half-opens

    bool is_fit() const { return !auth_failed && !quota_spent && !cooling_down && !circuit_open; }
    friend bool operator==(const Condition&, const Condition&) = default;
};

class UpstreamHealth {
  public:
    UpstreamHealth(const config::Circuit& circuit, const config::RateLimits& limits);

    Doubt on_attempt(const AttemptRecord& attempt);
    Doubt on_probe_failure(const Verdict& verdict, core::TimePoint now);
    void on_probe_success(core::TimePoint now);

    // A plan that is spent rests until `renews_at` where its provider names no time. To be told
    // again as long as the wall clock runs; a rest that has begun does not move with it.
    void set_renewal(core::TimePoint renews_at) { renews_at_ = renews_at; }

    // The same call failed alike elsewhere: its failures here were nobody's fault.
    void forgive(std::uint64_t call_hash);

    Condition condition(core::TimePoint now) const;

    // New and recovering upstreams get a trickle until they have answered a few calls, or for a
    // few seconds.
    void begin_trickle(core::TimePoint now);
    bool is_trickling(core::TimePoint now) const;

    void fade(core::TimePoint now) { stats_.fade(now); }
    const HealthStats& stats() const { return stats_; }
    MethodMarks& marks() { return marks_; }
    const MethodMarks& marks() const { return marks_; }
    Cause last_trouble() const { return last_trouble_; }  // answered: none so far

    void end_quota_rest() { quota_.end(); }
    bool is_spent(core::TimePoint now) const { return quota_.active(now); }  // its plan

    // The latest moment of a pause that is under way.
    core::TimePoint rests_until() const { return std::max(cooldown_.until(), quota_.until()); }

  private:
    void on_failure(const AttemptRecord& attempt);
    void on_success(const AttemptRecord& attempt);
    Doubt on_refused_credentials(const AttemptRecord& attempt);
    void rest(const Verdict& verdict, core::TimePoint now);

    HealthStats stats_;
    CircuitBreaker breaker_;
    CircuitBreaker slow_breaker_;  // late answers to calls of the slow time class
    Cooldown cooldown_;
    Cooldown quota_;
    core::TimePoint renews_at_{};  // of the plan
    MethodMarks marks_;
    bool auth_failed_ = false;
    bool auth_suspected_ = false;
    std::uint64_t auth_call_ = 0;  // the call that met the first refusal
    unsigned trickle_left_ = 0;
    core::TimePoint trickle_until_{};
    Cause last_trouble_ = Cause::answered;
};

}  // namespace weir::routing
