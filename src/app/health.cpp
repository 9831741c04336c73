#include "app/health.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <iostream>
#include <string_view>

namespace weir::app {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;

constexpr auto kPatience = std::chrono::seconds(3);

// Only the status line matters; the daemon closes after it.
struct Probe {
    net::io_context io;
    tcp::resolver resolver{io};
    tcp::socket socket{io};
    std::string request;
    std::string reply;
    error_code failure = net::error::timed_out;

    void start(const config::Endpoint& admin) {
        request =
            "GET /readyz HTTP/1.1\r\nHost: " + admin.to_string() + "\r\nConnection: close\r\n\r\n";
        // An address to listen on everywhere is reached by loopback.
        std::string host = admin.host;
        if (host == "0.0.0.0") {
            host = "127.0.0.1";
        } else if (host == "::") {
            host = "::1";
        }
        resolver.async_resolve(host, std::to_string(admin.port),
                               [this](error_code error, const tcp::resolver::results_type& found) {
                                   if (goes_on(error)) {
                                       connect(found);
                                   }
                               });
    }

  private:
    bool goes_on(error_code error) {
        failure = error;
        return !error;
    }
    void connect(const tcp::resolver::results_type& found) {
        net::async_connect(socket, found, [this](error_code error, const tcp::endpoint&) {
            if (goes_on(error)) {
                ask();
            }
        });
    }
    void ask() {
        net::async_write(socket, net::buffer(request), [this](error_code error, std::size_t) {
            if (goes_on(error)) {
                listen();
            }
        });
    }
    void listen() {
        net::async_read(socket, net::dynamic_buffer(reply, 64 * 1024),
                        [this](error_code error, std::size_t) {
                            failure = error == net::error::eof ? error_code{} : error;
                        });
    }
};

}  // namespace

int health(const config::Endpoint& admin) {
    Probe probe;
    probe.start(admin);
    probe.io.run_for(kPatience);
    if (!probe.io.stopped()) {
        std::cerr << "weir health: no answer from " << admin.to_string() << " in time\n";
        return 1;
    }
    if (probe.failure) {
        std::cerr << "weir health: " << admin.to_string() << ": " << probe.failure.message()
                  << '\n';
        return 1;
    }
    if (!std::string_view(probe.reply).starts_with("HTTP/1.1 200")) {
        std::cerr << "weir health: " << admin.to_string() << " is not ready\n";
        return 1;
    }
    return 0;
}

}  // namespace weir::app
