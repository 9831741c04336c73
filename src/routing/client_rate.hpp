// How fast one client may call: its calls are lined up at its rate, and a call whose time is too
// far off is refused.
#pragma once

#include "config/config.hpp"
#include "core/time.hpp"

namespace weir::routing {

// A token bucket, kept as the time at which it would be full again (the generic cell rate
// algorithm, ITU-T I.371). Calls that wait for their time have taken it already: first come, first
// served.
class ClientRate {
  public:
    explicit ClientRate(const config::ClientRate& rate);
    // Of a client whose rate has changed: of its new burst the share is left that was left.
    ClientRate(const config::ClientRate& rate, const ClientRate& before, core::TimePoint now);

    struct Turn {
        bool granted = false;
        core::TimePoint at;  // when the call may go, or could if it asked then
    };
    // Takes the next time that is free, unless it is later than `latest`.
    Turn take(core::TimePoint now, core::TimePoint latest);

  private:
    core::Duration interval_{};   // between calls; zero: not limited
    core::Duration tolerance_{};  // how far ahead of that calls may go
    core::TimePoint full_at_ = core::TimePoint::min();
};

}  // namespace weir::routing
