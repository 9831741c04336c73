#include "server/server.hpp"

#include "runtime/event.hpp"
#include "runtime/task_group.hpp"
#include "server/connection.hpp"
#include "server/own_refusals.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>

namespace weir::server {
namespace {

using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, runtime::Executor>;
constexpr auto kAsTuple = boost::asio::as_tuple(boost::asio::deferred);

constexpr int kAcceptsPerTurn = 16;  // then others get the thread
constexpr core::Duration kNoDescriptorPause = core::milliseconds(100);

// A peer's address without its port.
std::string text_of(const sockaddr_storage& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const char* written = nullptr;
    if (address.ss_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, &address, sizeof(v6));
        written = inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    } else {
        sockaddr_in v4{};
        std::memcpy(&v4, &address, sizeof(v4));
        written = inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    }
    return written != nullptr ? std::string(written) : std::string();
}

struct Accepted {
    Descriptor socket;
    std::string peer;
    int error = 0;
};

Accepted accept_one(int listener) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    Accepted accepted;
    accepted.socket = Descriptor(accept4(listener, reinterpret_cast<sockaddr*>(&address), &size,
                                         SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted.socket.get() < 0) {
        accepted.error = errno;
    } else {
        accepted.peer = text_of(address);
    }
    return accepted;
}

bool lacks_resources(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

class Server::Impl {
  public:
    Impl(runtime::Worker& worker, ServerState& state, Site& site, std::vector<Listener> listeners)
        : context_{worker, state, site, HeadWriter(worker.clock),
                   core::Published<Settings>::Reader(state.settings)},
          acceptors_(worker.io),
          sessions_(worker.io),
          empty_(worker.io) {
        empty_.set();
        for (Listener& listener : listeners) {
            Door& door = doors_.emplace_back(
                Acceptor(worker.io.get_executor()),
                listener.endpoint.is_loopback() ? Reach::loopback : Reach::network);
            door.acceptor.assign(boost::asio::ip::tcp::v4(), listener.socket.release());
        }
    }

    void start() {
        for (Door& door : doors_) {
            ++accept_loops_;
            empty_.reset();
            acceptors_.spawn(accept_loop(door));
        }
    }

    void stop_accepting() {
        for (Door& door : doors_) {
            // What the kernel has accepted already would be reset.
            while (door.acceptor.is_open() && take_one(door) == 0) {
            }
            boost::system::error_code ignored;
            door.acceptor.close(ignored);
        }
    }

    void close_idle() {
        for (Connection& connection : connections_) {
            connection.close_if_idle();
        }
    }

    void cut() {
        for (Connection& connection : connections_) {
            connection.cut();
        }
        sessions_.cancel();
    }

    runtime::Task<bool> drained(core::TimePoint deadline) { return empty_.wait_until(deadline); }

    std::size_t connections() const { return connections_.size(); }

  private:
    struct Door {
        Door(Acceptor listening, Reach who) : acceptor(std::move(listening)), reach(who) {}
        Acceptor acceptor;
        Reach reach;
    };

    runtime::Task<> accept_loop(Door& door) {
        co_await boost::asio::this_coro::throw_if_cancelled(false);
        while (door.acceptor.is_open()) {
            const auto [error] = co_await door.acceptor.async_wait(Acceptor::wait_read, kAsTuple);
            int result = static_cast<bool>(error) ? EAGAIN : 0;
            for (int i = 0; i < kAcceptsPerTurn && result == 0 && door.acceptor.is_open(); ++i) {
                result = take_one(door);
            }
            if (lacks_resources(result)) {
                // The connection stays in the backlog; asking again at once would spin.
                const core::TimePoint later = context_.worker.clock.now() + kNoDescriptorPause;
                co_await runtime::sleep_until(context_.worker.io, later);
            }
        }
        --accept_loops_;
        note_if_empty();
    }

    // Accepts one waiting connection; an errno when there is none or it cannot be had.
    int take_one(Door& door) {
        Accepted accepted = accept_one(door.acceptor.native_handle());
        if (accepted.error == ECONNABORTED || accepted.error == EINTR) {
            return 0;
        }
        if (accepted.error != 0) {
            return accepted.error;
        }
        const bool admitted = context_.state.connections.claim();
        if (!admitted && !context_.state.turned_away.claim()) {
            close_without_a_word(accepted.peer);
            return 0;
        }
        empty_.reset();
        const auto place =
            connections_.emplace(connections_.end(), context_, accepted.socket.release(),
                                 std::move(accepted.peer), door.reach);
        sessions_.spawn(admitted ? run_admitted(place) : run_turned_away(place));
        return 0;
    }

    void close_without_a_word(std::string_view peer) {
        const proxy::GatewayError error{.type = kOverloaded.type,
                                        .message = std::string(kOverloaded.message),
                                        .extra_data = {},
                                        .http_status = kOverloaded.status};
        const proxy::Route nowhere;
        context_.site.refused({.error = error, .request_id = {}, .peer = peer, .route = nowhere});
    }

    using Place = std::list<Connection>::iterator;

    runtime::Task<> run_admitted(Place place) {
        co_await place->serve();
        context_.state.connections.release();
        forget(place);
    }

    runtime::Task<> run_turned_away(Place place) {
        co_await place->turn_away();
        context_.state.turned_away.release();
        forget(place);
    }

    void forget(Place place) {
        connections_.erase(place);
        note_if_empty();
    }

    void note_if_empty() {
        if (connections_.empty() && accept_loops_ == 0) {
            empty_.set();
        }
    }

    ConnectionContext context_;
    std::list<Door> doors_;
    std::list<Connection> connections_;
    std::size_t accept_loops_ = 0;
    runtime::TaskGroup acceptors_;
    runtime::TaskGroup sessions_;
    runtime::Event empty_;
};

Server::Server(runtime::Worker& worker, ServerState& state, Site& site,
               std::vector<Listener> listeners)
    : impl_(std::make_unique<Impl>(worker, state, site, std::move(listeners))) {}

Server::~Server() = default;

void Server::start() { impl_->start(); }

void Server::stop_accepting() { impl_->stop_accepting(); }

void Server::close_idle() { impl_->close_idle(); }

runtime::Task<bool> Server::drained(core::TimePoint deadline) { return impl_->drained(deadline); }

void Server::cut() { impl_->cut(); }

std::size_t Server::connections() const { return impl_->connections(); }

}  // namespace weir::server
