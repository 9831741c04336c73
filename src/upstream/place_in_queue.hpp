// A call's place in the queue of its chain: one coroutine waits in it for its turn, on whatever
// worker it runs.
#pragma once

#include "core/time.hpp"
#include "runtime/task.hpp"
#include "runtime/worker.hpp"
#include "upstream/pool.hpp"

#include <memory>
#include <optional>

namespace weir::upstream {

struct Granted {
    routing::UpstreamIndex upstream = 0;
    Permit permit;
};

enum class WaitEnd : std::uint8_t {
    turn,      // granted
    too_late,  // no turn before the given time
    full,      // too many wait already
    left,      // by leave()
};

struct Waited {
    WaitEnd end = WaitEnd::too_late;
    std::optional<Granted> granted;
    Obstacle obstacle = Obstacle::none;  // what it was that made it wait
};

// Destroying it leaves the queue. Belongs to one worker; the pool must outlive it.
class PlaceInQueue {
  public:
    PlaceInQueue(runtime::Worker& worker, Pool& pool, const Turn& turn);
    ~PlaceInQueue();
    PlaceInQueue(const PlaceInQueue&) = delete;
    PlaceInQueue& operator=(const PlaceInQueue&) = delete;

    // Once. Returns when the turn has come, or at `until`; at once when it would come later.
    runtime::Task<Waited> wait(core::TimePoint until);

    // wait() ends soon.
    void leave();

  private:
    class Entry;
    runtime::Worker& worker_;
    Pool& pool_;
    const std::shared_ptr<Entry> entry_;
};

}  // namespace weir::upstream
