#include "routing/circuit_breaker.hpp"

#include <algorithm>

namespace weir::routing {

CircuitBreaker::CircuitBreaker(unsigned failures, core::Duration open_for)
    : failures_(std::clamp<unsigned>(failures, 1, kKept)), open_for_(open_for) {}

CircuitBreaker::State CircuitBreaker::state(core::TimePoint now) const {
    if (!open_) {
        return State::closed;
    }
    return now < half_opens_at_ ? State::open : State::half_open;
}

bool CircuitBreaker::is_in_doubt(core::TimePoint now) const {
    return state(now) == State::half_open && !probed_ && (!only_calls_ || probe_failed_);
}

void CircuitBreaker::on_success(core::TimePoint now) {
    count_ = 0;
    if (open_) {
        close();
    }
    start_window(now);
    ++window_good_;
}

void CircuitBreaker::on_probe_success(core::TimePoint now) {
    probed_ = open_;
    if (open_ && !only_calls_) {
        half_opens_at_ = std::min(half_opens_at_, now);
    }
    if (!open_ && std::all_of(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(count_),
                              [](const Failure& f) { return f.proof != Proof::reply; })) {
        count_ = 0;
    }
}

void CircuitBreaker::on_failure(Proof proof, std::uint64_t call_hash, core::TimePoint now) {
    if (open_ && proof != Proof::reply) {
        probed_ = false;
        probe_failed_ = true;
    }
    if (open_ && now < half_opens_at_) {
        return;  // calls that were under way when it opened, or the least bad serving
    }
    start_window(now);
    ++window_bad_;
    window_proven_ =
        window_proven_ || proof != Proof::reply || (window_bad_ > 1 && call_hash != window_hash_);
    window_hash_ = call_hash;
    if (count_ == kKept) {
        std::move(row_.begin() + 1, row_.end(), row_.begin());
        --count_;
    }
    row_[count_++] = {call_hash, proof};

    const bool often = window_bad_ >= 2 * failures_ && window_bad_ > window_good_ && window_proven_;
    if (open_ || often || (count_ >= failures_ && is_proven())) {
        trip(now);
    }
}

std::size_t CircuitBreaker::forgive(std::uint64_t call_hash) {
    const auto end = row_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto rest = std::remove_if(row_.begin(), end, [call_hash](const Failure& f) {
        return f.proof == Proof::reply && f.call_hash == call_hash;
    });
    const auto forgiven = static_cast<std::size_t>(end - rest);
    count_ -= forgiven;
    window_bad_ -= std::min<unsigned>(window_bad_, static_cast<unsigned>(forgiven));
    return forgiven;
}

bool CircuitBreaker::is_proven() const {
    return std::any_of(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(count_),
                       [this](const Failure& f) {
                           return f.proof != Proof::reply || f.call_hash != row_[0].call_hash;
                       });
}

void CircuitBreaker::trip(core::TimePoint now) {
    const core::Duration rest =
        std::min(open_for_ * (1U << std::min(trips_, 6U)), std::max(kLongestRest, open_for_));
    only_calls_ = std::none_of(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(count_),
                               [](const Failure& f) { return f.proof != Proof::reply; });
    open_ = true;
    probed_ = probe_failed_ = false;
    ++trips_;
    half_opens_at_ = now + rest;
    count_ = 0;
    window_bad_ = window_good_ = 0;
    window_proven_ = false;
}

void CircuitBreaker::close() {
    open_ = false;
    trips_ = 0;
}

void CircuitBreaker::start_window(core::TimePoint now) {
    if (now - window_began_ >= kWindow) {
        window_began_ = now;
        window_good_ = window_bad_ = 0;
        window_proven_ = false;
    }
}

}  // namespace weir::routing
