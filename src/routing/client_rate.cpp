#include "routing/client_rate.hpp"

#include <algorithm>
#include <chrono>

namespace weir::routing {
namespace {

using Seconds = std::chrono::duration<double>;

// A year is as good as never.
core::Duration whole(Seconds time) {
    constexpr Seconds kLongest = std::chrono::hours(24 * 365);
    return std::chrono::duration_cast<core::Duration>(std::min(time, kLongest));
}

}  // namespace

ClientRate::ClientRate(const config::ClientRate& rate) {
    if (rate.calls_per_second <= 0) {
        return;
    }
    const double burst =
        rate.burst ? static_cast<double>(*rate.burst) : std::max(1.0, rate.calls_per_second);
    const Seconds interval(1 / rate.calls_per_second);
    interval_ = std::max(whole(interval), core::Duration(1));
    tolerance_ = whole(interval * (burst - 1));
}

ClientRate::ClientRate(const config::ClientRate& rate, const ClientRate& before,
                       core::TimePoint now)
    : ClientRate(rate) {
    if (before.full_at_ <= now || interval_ == core::Duration::zero()) {
        return;
    }
    const double spent =
        Seconds(before.full_at_ - now) / Seconds(before.tolerance_ + before.interval_);
    full_at_ = now + whole(Seconds(tolerance_ + interval_) * spent);
}

ClientRate::Turn ClientRate::take(core::TimePoint now, core::TimePoint latest) {
    if (interval_ == core::Duration::zero()) {
        return {.granted = true, .at = now};
    }
    const core::TimePoint full = std::max(full_at_, now);
    const core::TimePoint at = std::max(now, full - tolerance_);
    if (at > latest) {
        return {.granted = false, .at = at};
    }
    full_at_ = full + interval_;
    return {.granted = true, .at = at};
}

}  // namespace weir::routing
