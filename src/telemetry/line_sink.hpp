// Lines to a file descriptor, without ever making their writer wait.
#pragma once

#include "core/time.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace weir::telemetry {

// A bounded buffer and a thread that empties it. Lines go out whole, in order, within 100 ms;
// urgent ones at once. While the descriptor takes nothing, lines are kept up to the bound; further
// ones are dropped and counted, and a notice says so when it takes bytes again. Any thread may
// append.
class LineSink {
  public:
    enum class Urgency { relaxed, now };
    // Makes the line (with its end) that says how many were dropped.
    using DropNotice = std::function<std::string(std::uint64_t dropped)>;

    // `fd` stays the caller's and is not made non-blocking: its description may be shared.
    LineSink(int fd, std::size_t capacity, DropNotice notice);

    // Writes what is pending, for at most kLastWrite.
    ~LineSink();
    LineSink(const LineSink&) = delete;
    LineSink& operator=(const LineSink&) = delete;

    // `line` ends with its newline.
    void append(std::string_view line, Urgency urgency);

    std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

    static constexpr core::milliseconds kDelay{100};
    static constexpr core::milliseconds kLastWrite{1000};

  private:
    static constexpr std::size_t kEager = 256 * 1024;  // so much does not wait for kDelay

    void run();
    bool write_out(std::string_view lines);  // false: not all of it; the rest counts as dropped
    bool out_of_time();
    std::size_t write_some(std::string_view lines, bool& broken) const;

    const int fd_;
    const bool is_socket_;
    const std::size_t capacity_;
    const DropNotice notice_;
    std::atomic<std::uint64_t> dropped_ = 0;

    std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    std::string pending_;
    bool urgent_ = false;
    bool stopping_ = false;
    core::TimePoint stop_at_ = core::TimePoint::max();

    std::thread thread_;
};

}  // namespace weir::telemetry
