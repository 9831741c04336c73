#include "upstream/idle_connections.hpp"

#include "upstream/http_connection.hpp"

#include <utility>

namespace weir::upstream {

IdleConnections::~IdleConnections() = default;

std::unique_ptr<HttpConnection> IdleConnections::take(core::TimePoint now) {
    while (!held_.empty()) {
        std::unique_ptr<HttpConnection> connection = std::move(held_.back());
        held_.pop_back();
        connection->idle_in_ = nullptr;
        if (now < connection->idle_until_ && connection->is_quiet()) {
            return connection;
        }
    }
    return nullptr;
}

void IdleConnections::put(std::unique_ptr<HttpConnection> connection, core::TimePoint until) {
    if (held_.size() >= most_) {
        return;
    }
    connection->idle_in_ = this;
    connection->idle_until_ = until;
    connection->arm(until);
    held_.push_back(std::move(connection));
}

void IdleConnections::expired(HttpConnection& connection) {
    std::erase_if(held_, [&](const auto& held) { return held.get() == &connection; });
}

}  // namespace weir::upstream
