// Connections of one upstream that wait for their next message. For this room's .cpp files only.
#pragma once

#include "core/time.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace weir::upstream {

class HttpConnection;

// The one used last is taken first: it is the least likely to have been closed by the peer.
class IdleConnections {
  public:
    explicit IdleConnections(std::size_t most) : most_(most) {}
    ~IdleConnections();
    IdleConnections(const IdleConnections&) = delete;
    IdleConnections& operator=(const IdleConnections&) = delete;

    // A connection that shows no sign of being stale; null when there is none. Those that do show
    // one (ended, stray bytes, too old) are closed on the way.
    std::unique_ptr<HttpConnection> take(core::TimePoint now);

    // Keeps the connection until `until`; closes it when there are too many.
    void put(std::unique_ptr<HttpConnection> connection, core::TimePoint until);

    void close_all() { held_.clear(); }
    std::size_t size() const { return held_.size(); }

    // For the connection: its time is up. Destroys it.
    void expired(HttpConnection& connection);

  private:
    std::size_t most_;
    std::vector<std::unique_ptr<HttpConnection>> held_;
};

}  // namespace weir::upstream
