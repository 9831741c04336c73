// The listening sockets: opened once for all workers, so that a port in use is known at the start.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"

#include <utility>
#include <vector>

namespace weir::server {

// Owns one file descriptor.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    int get() const { return number_; }
    int release() { return std::exchange(number_, -1); }

  private:
    int number_ = -1;
};

struct Listener {
    Descriptor socket;  // non-blocking, bound, listening
    config::Endpoint endpoint;
};

// One socket for each endpoint and worker; the kernel spreads connections over the workers
// (SO_REUSEPORT). IPv6 sockets take no IPv4 connections; `localhost` is 127.0.0.1.
class Listeners {
  public:
    // The error names the address and the cause. An endpoint with port 0 gets one free port for
    // all workers.
    static core::Result<Listeners> open(const std::vector<config::Endpoint>& endpoints,
                                        unsigned workers);

    // As opened, with real ports.
    const std::vector<config::Endpoint>& endpoints() const { return endpoints_; }

    // The sockets of one worker, each taken once.
    std::vector<Listener> take(unsigned worker);

  private:
    std::vector<config::Endpoint> endpoints_;
    std::vector<std::vector<Listener>> workers_;
};

}  // namespace weir::server
