#include "server/listener.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace weir::server {
namespace {

constexpr int kBacklog = 4096;

struct Address {
    sockaddr_storage storage{};
    socklen_t size = 0;

    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
    int family() const { return storage.ss_family; }
};

std::optional<Address> address_of(const config::Endpoint& endpoint) {
    Address address;
    const std::string host = endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host;
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(endpoint.port);
        std::memcpy(&address.storage, &v4, sizeof(v4));
        address.size = sizeof(v4);
        return address;
    }
    if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(endpoint.port);
        std::memcpy(&address.storage, &v6, sizeof(v6));
        address.size = sizeof(v6);
        return address;
    }
    return std::nullopt;
}

std::uint16_t port_of(int descriptor) {
    Address address;
    address.size = sizeof(address.storage);
    getsockname(descriptor, address.get(), &address.size);
    // The port stands at the same place in both families.
    sockaddr_in v4{};
    std::memcpy(&v4, &address.storage, sizeof(v4));
    return ntohs(v4.sin_port);
}

enum class Sharing : std::uint8_t { exclusive, shared };

// A bound socket, or -1 and errno.
Descriptor bind_to(Address address, Sharing sharing) {
    Descriptor socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    if (socket.get() < 0) {
        return socket;
    }
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (sharing == Sharing::shared) {
        setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
    }
    if (address.family() == AF_INET6) {
        setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    }
    if (bind(socket.get(), address.get(), address.size) != 0) {
        const int cause = errno;
        socket = Descriptor();
        errno = cause;
    }
    return socket;
}

core::Error failure(const config::Endpoint& endpoint, int cause) {
    const std::string where = "cannot listen on " + endpoint.to_string() + ": ";
    switch (cause) {
        case EADDRINUSE:
            return {where + "the address is already in use"};
        case EADDRNOTAVAIL:
            return {where + "this machine does not have the address"};
        case EACCES:
            return {where + "the port needs privileges"};
        default:
            return {where + std::generic_category().message(cause)};
    }
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        if (number_ >= 0) {
            ::close(number_);
        }
        number_ = std::exchange(other.number_, -1);
    }
    return *this;
}

Descriptor::~Descriptor() {
    if (number_ >= 0) {
        ::close(number_);
    }
}

core::Result<Listeners> Listeners::open(const std::vector<config::Endpoint>& endpoints,
                                        unsigned workers) {
    Listeners listeners;
    listeners.workers_.resize(workers);
    for (config::Endpoint endpoint : endpoints) {
        if (endpoint.port != 0) {
            // With SO_REUSEPORT a second process would share the port silently, so the first
            // attempt goes without.
            const std::optional<Address> address = address_of(endpoint);
            if (!address) {
                return core::Error{"cannot listen on " + endpoint.to_string() +
                                   ": not an IP address"};
            }
            const Descriptor probe = bind_to(*address, Sharing::exclusive);
            if (probe.get() < 0 || listen(probe.get(), 1) != 0) {
                return failure(endpoint, errno);
            }
        }
        for (std::vector<Listener>& worker : listeners.workers_) {
            const std::optional<Address> address = address_of(endpoint);
            if (!address) {
                return core::Error{"cannot listen on " + endpoint.to_string() +
                                   ": not an IP address"};
            }
            Descriptor socket = bind_to(*address, Sharing::shared);
            if (socket.get() < 0 || listen(socket.get(), kBacklog) != 0) {
                return failure(endpoint, errno);
            }
            endpoint.port = port_of(socket.get());
            worker.push_back({std::move(socket), endpoint});
        }
        listeners.endpoints_.push_back(endpoint);
    }
    return listeners;
}

std::vector<Listener> Listeners::take(unsigned worker) { return std::move(workers_.at(worker)); }

}  // namespace weir::server
