// One worker's server: accepts connections, keeps them, ends them.
#pragma once

#include "runtime/worker.hpp"
#include "server/listener.hpp"
#include "server/site.hpp"
#include "server/state.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace weir::server {

// All calls on the worker's thread. What is given by reference outlives the server, and `state`
// outlives the worker. Before the server is destroyed, either drained() was true or the worker's
// event loop has ended for good.
class Server {
  public:
    Server(runtime::Worker& worker, ServerState& state, Site& site,
           std::vector<Listener> listeners);
    ~Server();

    void start();

    // A stop goes: ServerState::begin_drain() (all is served, each answer says `Connection:
    // close`), stop_accepting(), close_idle(), drained(), and cut() for what is left.
    void stop_accepting();
    // Closes the connections on which no byte of a request has arrived.
    void close_idle();
    // True when nothing is accepted any more and no connection is left, false at the deadline.
    runtime::Task<bool> drained(core::TimePoint deadline);
    // Ends all connections and what runs for them; drained() tells when that is done.
    void cut();

    std::size_t connections() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weir::server
