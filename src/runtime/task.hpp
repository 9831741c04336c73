// The coroutine words: Task, Executor.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

namespace weir::runtime {

// The concrete executor, not any_io_executor: one indirection less on every resumption.
using Executor = boost::asio::io_context::executor_type;

// A coroutine that runs on one worker's io_context and never leaves it.
template <class T = void>
using Task = boost::asio::awaitable<T, Executor>;

}  // namespace weir::runtime
