#include "proxy/client_limit.hpp"

#include "proxy/client.hpp"
#include "proxy/failure.hpp"
#include "proxy/patience.hpp"
#include "runtime/event.hpp"

#include <algorithm>

namespace weir::proxy {
namespace {

// Ends a wait when the client leaves.
class Alarm final : private ClientPresence::Listener {
  public:
    Alarm(boost::asio::io_context& io, ClientPresence& client) : client_(client), gone_(io) {
        client_.add(*this);
    }
    ~Alarm() { client_.remove(*this); }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    runtime::Task<bool> wait_until(core::TimePoint when) { return gone_.wait_until(when); }

  private:
    void on_client_gone() override { gone_.set(); }

    ClientPresence& client_;
    runtime::Event gone_;
};

bool is_charged(const CallPlan& plan) {
    return !plan.refusal && plan.access() != routing::Access::local && !plan.is_silent();
}

// When the last of the calls may go.
core::TimePoint take_turns(const ChainContext& chain, const ClientRequest& request,
                           std::span<CallPlan> plans, core::TimePoint now) {
    core::TimePoint go = now;
    for (CallPlan& plan : plans) {
        if (!is_charged(plan)) {
            continue;
        }
        const config::Timeouts& timeouts = chain.config.timeouts;
        const core::TimePoint deadline =
            request.received + (plan.traits->time_class == routing::TimeClass::slow
                                    ? timeouts.slow_request
                                    : timeouts.request);
        const core::TimePoint latest =
            std::min(now + chain.config.rate_limits.max_wait, last_start(timeouts, deadline));
        const routing::ClientRate::Turn turn =
            plan.client->state->take_turn(now, std::max(latest, now));
        if (turn.granted) {
            go = std::max(go, turn.at);
        } else {
            plan.refusal = client_limited(plan.client->name, chain.config, turn.at - now);
        }
    }
    for (CallPlan& plan : plans) {
        plan.waited = go - now;
    }
    return go;
}

}  // namespace

runtime::Task<> wait_for_rate(Services& services, const ChainContext& chain,
                              const ClientRequest& request, std::span<CallPlan> plans,
                              ClientPresence& client) {
    const core::TimePoint now = services.worker.clock.now();
    const core::TimePoint go = take_turns(chain, request, plans, now);
    if (go <= now || client.gone()) {
        co_return;
    }
    Alarm alarm(services.worker.io, client);
    const bool left = co_await alarm.wait_until(go);
    static_cast<void>(left);
}

}  // namespace weir::proxy
