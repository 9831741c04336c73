// The coroutine words: Task, Executor.
#pragma once

#include "runtime/recycled.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>

namespace weir::runtime {

// The concrete executor, not any_io_executor: one indirection less on every resumption.
using Executor = boost::asio::io_context::executor_type;

// A coroutine that runs on one worker's io_context and never leaves it.
template <class T = void>
using Task = boost::asio::awaitable<T, Executor>;

}  // namespace weir::runtime

// Where the frames of coroutines lie. Asio itself keeps no more than two, and none above 1,020
// bytes.
template <>
inline void* boost::asio::detail::thread_info_base::allocate(
    boost::asio::detail::thread_info_base::awaitable_frame_tag, thread_info_base*, std::size_t size,
    std::size_t) {
    return weir::runtime::take_block(size);
}

template <>
inline void boost::asio::detail::thread_info_base::deallocate(
    boost::asio::detail::thread_info_base::awaitable_frame_tag, thread_info_base*, void* frame,
    std::size_t size) {
    weir::runtime::give_block(frame, size);
}
