// What the shell asks of the world, injected so that tests can fake it.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace weir::runtime {

class Clock {
  public:
    virtual ~Clock() = default;
    virtual core::TimePoint now() const = 0;      // monotonic
    virtual core::WallTime wall_now() const = 0;  // for people and HTTP dates
};

// Uniform 64-bit numbers; for spreading load and jitter, not for secrets. Any thread may call.
class Random {
  public:
    virtual ~Random() = default;
    virtual std::uint64_t next() = 0;
};

class SystemClock final : public Clock {
  public:
    core::TimePoint now() const override;
    core::WallTime wall_now() const override;
};

class SystemRandom final : public Random {
  public:
    std::uint64_t next() override;
};

}  // namespace weir::runtime
