// One client as requests see it: what it may call, how fast, and what it has used.
#pragma once

#include "core/time.hpp"
#include "proxy/plan.hpp"
#include "routing/client_rate.hpp"
#include "routing/policy.hpp"
#include "telemetry/metrics.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace weir::proxy {

// What the process keeps of a client, for all threads and from one configuration to the next.
class ClientState {
  public:
    ClientState(std::uint64_t number, const config::ClientRate& rate)
        : share(number), rate_(rate) {}

    routing::ClientRate::Turn take_turn(core::TimePoint now, core::TimePoint latest) {
        const std::lock_guard lock(mutex_);
        return rate_.take(now, latest);
    }
    void set_rate(const config::ClientRate& rate, core::TimePoint now) {
        const std::lock_guard lock(mutex_);
        rate_ = routing::ClientRate(rate, rate_, now);
    }

    // Whose share of the queues it takes; 0: an open gateway's, which is nobody's in particular.
    const std::uint64_t share;
    std::atomic<std::size_t> in_flight = 0;  // requests

  private:
    std::mutex mutex_;
    routing::ClientRate rate_;
};

// A request's place among those of its client. While the server has less room left than the client
// has running, the client gets none: however many one client sends, others find room.
class ClientPlace {
  public:
    ClientPlace(ClientState& client, std::size_t room)
        : client_(&client), held_(client.in_flight.fetch_add(1) < room || client.share == 0) {}
    ClientPlace(ClientPlace&& other) noexcept
        : client_(std::exchange(other.client_, nullptr)), held_(other.held_) {}
    ClientPlace& operator=(ClientPlace&&) = delete;
    ~ClientPlace() {
        if (client_ != nullptr) {
            client_->in_flight.fetch_sub(1);
        }
    }
    bool held() const { return held_; }

  private:
    ClientState* client_;
    bool held_;
};

struct Client {
    std::string name;
    config::ClientRate rate;
    routing::MethodPolicy policy;
    std::vector<telemetry::ClientMeter> meters;  // by the chain's place
    std::shared_ptr<ClientState> state;

    bool is_limited() const { return rate.calls_per_second > 0; }
};

// What is kept of all clients from one configuration to the next. One thread.
class ClientStates {
  public:
    // The configuration's clients, or the one of an open gateway. Who was there under the same name
    // goes on with its state.
    std::vector<Client> clients_of(const config::Config& config, telemetry::Metrics& metrics,
                                   core::TimePoint now);

  private:
    struct Kept {
        config::ClientRate rate;
        std::shared_ptr<ClientState> state;
    };
    std::map<std::string, Kept> kept_;
    std::uint64_t next_share_ = 1;
};

// Whose turn a call waits for.
inline std::uint64_t share_of(const CallPlan& plan) {
    return plan.client != nullptr ? plan.client->state->share : 0;
}

}  // namespace weir::proxy
