// Keeps calls away from an upstream that fails, and lets it back by trial. Time is a parameter.
#pragma once

#include "core/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::routing {

// What a failure proves.
enum class Proof : std::uint8_t {
    reply,       // a bad or late answer: may be the call's own fault, so two different calls needed
    connection,  // no connection, no call to blame
    probe,       // the gateway's own question, which every node can answer
};

// Closed, then open after `failures` in a row, or after twice as many within kWindow when they are
// the larger part of all; half-open after `open_for`, doubled with each trial that fails.
class CircuitBreaker {
  public:
    static constexpr core::Duration kWindow = std::chrono::seconds(30);
    static constexpr core::Duration kLongestRest = std::chrono::seconds(60);

    enum class State : std::uint8_t { closed, open, half_open };

    CircuitBreaker(unsigned failures, core::Duration open_for);

    void on_success(core::TimePoint now);
    void on_failure(Proof proof, std::uint64_t call_hash, core::TimePoint now);

    // A good probe: ends an illness that probes or connections showed. One that only real calls
    // showed needs a real call to end it.
    void on_probe_success(core::TimePoint now);

    // The failures of this call were nobody's fault. Returns how many were taken back.
    std::size_t forgive(std::uint64_t call_hash);

    State state(core::TimePoint now) const;
    // Half-open, and nothing has shown that the illness is over: probes or connections showed it,
    // at first or since, and no probe was good after that. Without calls a probe is what ends such
    // doubt.
    bool is_in_doubt(core::TimePoint now) const;
    core::TimePoint half_opens_at() const { return half_opens_at_; }  // while open
    unsigned consecutive_failures() const { return static_cast<unsigned>(count_); }

  private:
    struct Failure {
        std::uint64_t call_hash;
        Proof proof;
    };
    static constexpr std::size_t kKept = 32;

    bool is_proven() const;
    void trip(core::TimePoint now);
    void close();
    void start_window(core::TimePoint now);

    unsigned failures_;
    core::Duration open_for_;
    bool open_ = false;
    bool only_calls_ = false;  // what opened it were answers to real calls
    // Since it was last opened: was the latest probe good, has one failed?
    bool probed_ = false;
    bool probe_failed_ = false;
    unsigned trips_ = 0;  // since it was last closed
    core::TimePoint half_opens_at_{};

    // Since the last success.
    std::array<Failure, kKept> row_{};
    std::size_t count_ = 0;
    // Since the window began.
    core::TimePoint window_began_{};
    unsigned window_good_ = 0;
    unsigned window_bad_ = 0;
    std::uint64_t window_hash_ = 0;
    bool window_proven_ = false;
};

}  // namespace weir::routing
