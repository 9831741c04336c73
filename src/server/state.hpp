// What all workers of one server share: counters and limits. Any thread.
#pragma once

#include "config/config.hpp"

#include <atomic>
#include <cstddef>

namespace weir::server {

struct Limits {
    std::size_t max_header = 16 * config::kKiB;
    std::size_t max_body = 5 * config::kMiB;
    std::size_t max_connections = 10000;
    std::size_t max_in_flight = 4096;
    core::Duration header_timeout = core::seconds(10);
    core::Duration body_timeout = core::seconds(30);  // also the patience with slow readers
    core::Duration idle_timeout = core::seconds(75);
};

// Those of the RPC listeners.
Limits limits_of(const config::Server& settings);
// Those of the admin listener: people and scrapers, few at a time.
Limits admin_limits(const config::Server& settings);

// A number of places; a claim fails rather than waits.
class Places {
  public:
    explicit Places(std::size_t limit) : limit_(limit) {}

    bool claim() {
        if (taken_.fetch_add(1, std::memory_order_relaxed) >= limit_) {
            release();
            return false;
        }
        return true;
    }
    void release() { taken_.fetch_sub(1, std::memory_order_relaxed); }
    std::size_t taken() const { return taken_.load(std::memory_order_relaxed); }

  private:
    const std::size_t limit_;
    std::atomic<std::size_t> taken_ = 0;
};

// Outlives every worker that serves with it.
class ServerState {
  public:
    explicit ServerState(const Limits& server_limits)
        : limits(server_limits),
          connections(server_limits.max_connections),
          in_flight(server_limits.max_in_flight) {}

    const Limits limits;
    Places connections;
    Places in_flight;

    // From now on every answer says `Connection: close`.
    void begin_drain() { draining_.store(true, std::memory_order_relaxed); }
    bool draining() const { return draining_.load(std::memory_order_relaxed); }

  private:
    std::atomic<bool> draining_ = false;
};

}  // namespace weir::server
