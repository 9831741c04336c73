#include "app/health.hpp"

#include "core/harmless.hpp"
#include "core/hex.hpp"
#include "jsonrpc/value.hpp"

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

constexpr std::size_t kLongestWords = 200;  // of a body, on a line for people

// The message of a refusal, or the first line of any other body.
std::string words_of(std::string_view body) {
    const std::string_view error = jsonrpc::member(body, "error");
    std::string words = jsonrpc::string_value(jsonrpc::member(error, "message"))
                            .value_or(std::string(body.substr(0, body.find_first_of("\r\n"))));
    words = core::harmless(words);
    core::cut_between_characters(words, kLongestWords);
    return words;
}

// The daemon closes after its reply.
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

std::optional<std::string> trouble_in(std::string_view reply) {
    constexpr std::string_view kProtocol = "HTTP/1.1 ";
    constexpr std::size_t kDigits = 3;
    const std::string_view status =
        reply.starts_with(kProtocol) ? reply.substr(kProtocol.size(), kDigits) : "";
    if (!core::parse_decimal(status) || status.size() != kDigits) {
        return "what answers does not speak HTTP";
    }
    if (status == "200") {
        return std::nullopt;
    }
    const auto end = reply.find("\r\n\r\n");
    const std::string words =
        words_of(end != std::string_view::npos ? reply.substr(end + 4) : std::string_view());
    return "HTTP " + std::string(status) + (words.empty() ? "" : ": " + words);
}

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
    if (const std::optional<std::string> trouble = trouble_in(probe.reply)) {
        std::cerr << "weir health: " << admin.to_string() << ": " << *trouble << '\n';
        return 1;
    }
    return 0;
}

}  // namespace weir::app
