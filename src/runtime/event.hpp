// One coroutine waits, others on the same worker wake it.
#pragma once

#include "core/time.hpp"
#include "runtime/task.hpp"

#include <memory>

namespace weir::runtime {

// A flag that can be waited for. Belongs to one worker; one waiter at a time.
class Event {
  public:
    explicit Event(boost::asio::io_context& io);
    ~Event();
    Event(Event&&) noexcept;
    Event& operator=(Event&&) noexcept;

    void set();
    void reset();
    bool is_set() const;

    // Returns when the event is set (true) or at `deadline` (false).
    Task<bool> wait_until(core::TimePoint deadline);
    Task<> wait();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Suspends until `when`; for pauses that are part of a decision (back-off, polling), not for
// bounding an operation.
Task<> sleep_until(boost::asio::io_context& io, core::TimePoint when);

}  // namespace weir::runtime
