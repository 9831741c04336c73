// What one thread owns: an event loop, its deadlines and its buffers.
#pragma once

#include "runtime/buffer.hpp"
#include "runtime/deadlines.hpp"
#include "runtime/ports.hpp"
#include "runtime/ready_set.hpp"
#include "runtime/task.hpp"

#include <boost/asio/executor_work_guard.hpp>

namespace weir::runtime {

// While it lives, a worker's event loop runs on, with nothing to do too.
using WorkGuard = boost::asio::executor_work_guard<Executor>;

// One per core; nothing of it is shared. Any thread may post to `io`; its sockets and timers
// are used by the one that runs it, so their operations take no lock.
struct Worker {
    Worker(unsigned number, Clock& time, Random& entropy, MemoryBudget& budget)
        : index(number),
          clock(time),
          random(entropy),
          io(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
          ready(io),
          deadlines(io),
          buffers(budget) {}

    unsigned index;
    Clock& clock;
    Random& random;
    boost::asio::io_context io;
    ReadySet ready;
    DeadlineWheel deadlines;
    BufferPool buffers;
};

}  // namespace weir::runtime
