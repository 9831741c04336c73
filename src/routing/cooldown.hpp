// The pause that a rate limit or a spent plan asks for.
#pragma once

#include "core/time.hpp"

#include <optional>

namespace weir::routing {

// How long a spent plan rests whose provider does not say until when: until 00:00 UTC, when plans
// are renewed. Within the first hour of a day ten minutes, as the provider's clock may be behind.
core::Duration until_renewal(core::WallTime wall);

class Cooldown {
  public:
    // Waits are clamped to `longest`; `by_default` stands in where the provider named none.
    Cooldown(core::Duration by_default, core::Duration longest);

    // Never shortens a pause that runs.
    void start(std::optional<core::Duration> asked, core::TimePoint now);
    void end() { until_ = {}; }
    bool active(core::TimePoint now) const { return now < until_; }
    core::TimePoint until() const { return until_; }

  private:
    core::Duration by_default_;
    core::Duration longest_;
    core::TimePoint until_{};
};

}  // namespace weir::routing
