// How long one call waits for its turn, in all: within the chain's `max_wait`, its own deadline and
// its client's presence.
#pragma once

#include "core/time.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/exchange.hpp"
#include "proxy/failure.hpp"
#include "proxy/services.hpp"
#include "upstream/place_in_queue.hpp"

#include <optional>

namespace weir::proxy {

// The latest start that leaves a call time enough for an answer before its deadline.
core::TimePoint last_start(const config::Timeouts& timeouts, core::TimePoint deadline);

class Patience final : private ClientPresence::Listener {
  public:
    // The references must outlive it. `waited` is what the call has waited already.
    Patience(Services& services, ChainContext& chain, ClientPresence& client,
             core::TimePoint deadline, core::Duration waited);
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

    // A turn at one of the upstreams; nothing when there is none in time, and then `ending` says
    // why and until when.
    runtime::Task<std::optional<upstream::Granted>> wait(upstream::Turn turn, Ending& ending);

  private:
    void on_client_gone() override;

    Services& services_;
    ChainContext& chain_;
    ClientPresence& client_;
    const core::TimePoint last_start_;  // a later turn would come too late for the deadline
    core::Duration left_;
    upstream::PlaceInQueue* place_ = nullptr;
};

}  // namespace weir::proxy
