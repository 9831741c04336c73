#include "telemetry/line_sink.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weir::telemetry {
namespace {

// A pipe that polls as writable takes this much without blocking (one page, PIPE_BUF), and writes
// of this size do not mix with those of others.
constexpr std::size_t kChunk = 4096;

bool is_socket(int fd) {
    struct stat status = {};
    return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

// Signals are for the threads that ask for them; SIGPIPE becomes an error of write().
void block_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

// As many whole lines as fit into a chunk; a longer line goes out in pieces.
std::string_view next_chunk(std::string_view lines) {
    const std::string_view chunk = lines.substr(0, kChunk);
    if (chunk.size() == lines.size()) {
        return chunk;
    }
    const std::size_t last_end = chunk.rfind('\n');
    return last_end == std::string_view::npos ? chunk : chunk.substr(0, last_end + 1);
}

}  // namespace

LineSink::LineSink(int fd, std::size_t capacity, DropNotice notice)
    : fd_(fd),
      is_socket_(is_socket(fd)),
      capacity_(capacity),
      notice_(std::move(notice)),
      thread_([this] { run(); }) {}

LineSink::~LineSink() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        stop_at_ = std::chrono::steady_clock::now() + kLastWrite;
    }
    wake_.notify_one();
    thread_.join();
}

void LineSink::append(std::string_view line, Urgency urgency) {
    bool notify = false;
    {
        const std::lock_guard lock(mutex_);
        if (pending_.size() + line.size() > capacity_) {
            dropped_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        const std::size_t before = pending_.size();
        pending_ += line;
        // The thread sleeps without a bound only while nothing is pending.
        notify = before == 0 || (before < kEager && pending_.size() >= kEager);
        if (urgency == Urgency::now && !urgent_) {
            urgent_ = true;
            notify = true;
        }
    }
    if (notify) {
        wake_.notify_one();
    }
}

void LineSink::run() {
    block_signals();
    std::string batch;
    std::uint64_t reported = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
        wake_.wait_for(lock, kDelay,
                       [this] { return stopping_ || urgent_ || pending_.size() >= kEager; });
        if (pending_.empty()) {
            return;
        }
        batch.swap(pending_);
        urgent_ = false;
        lock.unlock();
        const bool taken = write_out(batch);
        batch.clear();
        lock.lock();
        const std::uint64_t lost = dropped() - reported;
        if (taken && lost != 0) {
            reported += lost;
            pending_ += notice_(lost);
        }
    }
}

bool LineSink::out_of_time() {
    const std::lock_guard lock(mutex_);
    return std::chrono::steady_clock::now() >= stop_at_;
}

bool LineSink::write_out(std::string_view lines) {
    constexpr int kLook = 20;  // ms between two looks at the clock while nothing can be written
    bool broken = false;
    while (!lines.empty() && !broken) {
        pollfd ready = {fd_, POLLOUT, 0};
        if (poll(&ready, 1, kLook) > 0) {
            lines.remove_prefix(write_some(lines, broken));
        } else if (out_of_time()) {
            break;
        }
    }
    const auto left = static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
    dropped_.fetch_add(left, std::memory_order_relaxed);
    return lines.empty();
}

std::size_t LineSink::write_some(std::string_view lines, bool& broken) const {
    const std::string_view chunk = next_chunk(lines);
    const ssize_t written = is_socket_
                                ? send(fd_, chunk.data(), chunk.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                : write(fd_, chunk.data(), chunk.size());
    if (written >= 0) {
        return static_cast<std::size_t>(written);
    }
    broken = errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
    return 0;
}

}  // namespace weir::telemetry
