// One client's connection, from its first byte to its last: requests are read, judged, answered,
// one after another in order.
#pragma once

#include "runtime/worker.hpp"
#include "server/access_rules.hpp"
#include "server/response_head.hpp"
#include "server/site.hpp"
#include "server/state.hpp"

#include <memory>
#include <string>

namespace weir::server {

// What the connections of one worker's server have in common. Outlives them.
struct ConnectionContext {
    runtime::Worker& worker;
    ServerState& state;
    Site& site;
    HeadWriter heads;
    core::Published<Settings>::Reader settings;
};

class Connection {
  public:
    // Takes the connected, non-blocking socket over.
    Connection(ConnectionContext& context, int descriptor, std::string peer, Reach reach);
    ~Connection();

    // Serves until the connection is closed.
    runtime::Task<> serve();

    // Answers 503 without reading a request, and closes.
    runtime::Task<> turn_away();

    // Closes a connection that waits for a request, nothing of which has arrived.
    void close_if_idle();

    // Ends the connection at once, in the middle of whatever it does.
    void cut();

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weir::server
