// Clients that call at a steady pace while a test does something to the daemon.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::test {

// Each of some clients sends a read every `pace`, over a connection that it keeps until an answer
// says `Connection: close`. It ends when it is stopped, or when nobody listens any more.
class Load {
  public:
    Load(const std::string& address, int clients, std::chrono::microseconds pace);
    ~Load();
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    void stop();

    std::size_t sent() const { return sent_; }
    std::size_t answered() const { return answered_; }
    // Calls that were sent and did not get a whole answer with a result.
    std::size_t failed() const { return failed_; }
    std::string first_failure() const;
    // Clients that found nobody listening.
    std::size_t ended() const { return ended_; }

  private:
    void run(const std::string& address, std::chrono::steady_clock::time_point start,
             std::chrono::microseconds pace);
    void fail(const std::string& what);

    std::atomic<bool> over_ = false;
    std::atomic<std::size_t> sent_ = 0;
    std::atomic<std::size_t> answered_ = 0;
    std::atomic<std::size_t> failed_ = 0;
    std::atomic<std::size_t> ended_ = 0;
    mutable std::mutex mutex_;
    std::string first_failure_;
    std::vector<std::thread> threads_;
};

}  // namespace weir::test
