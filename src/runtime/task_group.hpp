// Structured concurrency: every spawned task belongs to a group that can stop and join it.
#pragma once

#include "runtime/event.hpp"
#include "runtime/task.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace weir::runtime {

// Runs tasks on one worker. The group must be joined before it is destroyed, unless its worker's
// event loop has ended for good. A task that throws ends the program at once: tasks report by
// values.
class TaskGroup {
  public:
    explicit TaskGroup(boost::asio::io_context& io);
    ~TaskGroup();
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    // Starts `task`; what it captured must live until it ended.
    void spawn(Task<> task);

    // Asks every running task to stop (asio's terminal cancellation): what they wait for ends with
    // operation_aborted.
    void cancel();

    // Returns when no task is left.
    Task<> join();

    std::size_t running() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace weir::runtime
