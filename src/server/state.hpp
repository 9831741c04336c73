// What all workers of one server share: settings, and counters with their limits. Any thread.
#pragma once

#include "config/config.hpp"
#include "core/published.hpp"
#include "server/access_rules.hpp"
#include "server/tls.hpp"
#include "server/trusted_proxies.hpp"

#include <atomic>
#include <cstddef>
#include <memory>

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

// What a configuration says about a listener's requests; a new one takes its place as a whole.
struct Settings {
    Limits limits;
    AccessRules rules;
    TrustedProxies proxies;
    std::shared_ptr<const ListenerTls> tls;  // null: plain HTTP
};

// Those of the RPC listeners.
std::shared_ptr<const Settings> settings_of(const config::Server& settings,
                                            std::shared_ptr<const ListenerTls> tls = nullptr);
// Those of the admin listener: people and scrapers, few at a time.
std::shared_ptr<const Settings> admin_settings(const config::Server& settings);

// A number of places; a claim fails rather than waits.
class Places {
  public:
    explicit Places(std::size_t limit) : limit_(limit) {}

    // Who holds a place keeps it.
    void set_limit(std::size_t limit) { limit_.store(limit, std::memory_order_relaxed); }

    bool claim() {
        if (taken_.fetch_add(1, std::memory_order_relaxed) >=
            limit_.load(std::memory_order_relaxed)) {
            release();
            return false;
        }
        return true;
    }
    void release() { taken_.fetch_sub(1, std::memory_order_relaxed); }
    std::size_t taken() const { return taken_.load(std::memory_order_relaxed); }
    std::size_t left() const {
        const std::size_t now = taken();
        const std::size_t limit = limit_.load(std::memory_order_relaxed);
        return now < limit ? limit - now : 0;
    }

  private:
    std::atomic<std::size_t> limit_;
    std::atomic<std::size_t> taken_ = 0;
};

// Outlives every worker that serves with it.
class ServerState {
  public:
    explicit ServerState(const std::shared_ptr<const Settings>& first)
        : settings(first),
          connections(first->limits.max_connections),
          in_flight(first->limits.max_in_flight) {}

    // Connections take it at their next request.
    void apply(const std::shared_ptr<const Settings>& next) {
        settings.publish(next);
        connections.set_limit(next->limits.max_connections);
        in_flight.set_limit(next->limits.max_in_flight);
    }

    core::Published<Settings> settings;
    Places connections;
    Places turned_away{64};  // connections over the limit that get an answer
    Places in_flight;

    // From now on every answer says `Connection: close`.
    void begin_drain() { draining_.store(true, std::memory_order_relaxed); }
    bool draining() const { return draining_.load(std::memory_order_relaxed); }

  private:
    std::atomic<bool> draining_ = false;
};

}  // namespace weir::server
