#include "support/raw_client.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::test {
namespace {

using Deadline = std::chrono::steady_clock::time_point;

Deadline after(std::chrono::milliseconds bound) { return std::chrono::steady_clock::now() + bound; }

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::uint16_t port_of(const std::string& address) {
    return static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
}

void parse_head(HttpResponse& response) {
    const std::string& head = response.head;
    if (head.size() < 12 || head.compare(0, 5, "HTTP/") != 0) {
        throw std::runtime_error("not an HTTP response: " + head);
    }
    response.status = std::stoi(head.substr(head.find(' ') + 1, 3));
    std::size_t at = head.find("\r\n");
    while (at != std::string::npos) {
        const std::size_t begin = at + 2;
        at = head.find("\r\n", begin);
        const std::string line = head.substr(begin, at - begin);
        const std::size_t colon = line.find(':');
        if (colon != std::string::npos) {
            response.fields.emplace_back(line.substr(0, colon),
                                         core::trim(std::string_view(line).substr(colon + 1)));
        }
    }
}

}  // namespace

std::string HttpResponse::field(std::string_view name) const {
    for (const auto& [key, value] : fields) {
        if (core::iequals(key, name)) {
            return value;
        }
    }
    return "";
}

bool HttpResponse::has_field(std::string_view name) const {
    return std::any_of(fields.begin(), fields.end(),
                       [&](const auto& each) { return core::iequals(each.first, name); });
}

RawClient::RawClient(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr generic = {};
    static_assert(sizeof generic == sizeof address);
    std::memcpy(&generic, &address, sizeof address);
    if (socket_ < 0 || connect(socket_, &generic, sizeof address) != 0) {
        const int error = errno;
        if (socket_ >= 0) {
            close(socket_);
        }
        errno = error;
        fail("connect to port " + std::to_string(port));
    }
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

RawClient::RawClient(const std::string& address) : RawClient(port_of(address)) {}

RawClient::~RawClient() {
    if (socket_ >= 0) {
        close(socket_);
    }
}

RawClient::RawClient(RawClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), received_(std::move(other.received_)) {}

void RawClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            fail("send");
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void RawClient::shut_down_sending() { shutdown(socket_, SHUT_WR); }

bool RawClient::receive(Deadline deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready = {socket_, POLLIN, 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
        throw std::runtime_error("nothing came in time; so far: " + received_.substr(0, 500));
    }
    std::array<char, 65536> piece{};
    const ssize_t size = recv(socket_, piece.data(), piece.size(), 0);
    if (size <= 0) {
        return false;  // closed, or reset
    }
    received_.append(piece.data(), static_cast<std::size_t>(size));
    return true;
}

HttpResponse RawClient::read_response(std::chrono::milliseconds bound) {
    const Deadline deadline = after(bound);
    HttpResponse response;
    std::size_t end = std::string::npos;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
        if (!receive(deadline)) {
            response.head = std::exchange(received_, "");
            response.end = HttpResponse::End::cut;
            return response;
        }
    }
    response.head = received_.substr(0, end);
    received_.erase(0, end + 4);
    parse_head(response);
    response.end = read_body(response, deadline);
    return response;
}

HttpResponse::End RawClient::read_body(HttpResponse& response, Deadline deadline) {
    if (response.status < 200 || response.status == 204 || response.status == 304) {
        return HttpResponse::End::complete;
    }
    if (core::iequals(response.field("Transfer-Encoding"), "chunked")) {
        return read_chunks(response.body, deadline);
    }
    const std::string length = response.field("Content-Length");
    const std::size_t wanted = length.empty() ? std::string::npos : std::stoul(length);
    while (received_.size() < wanted) {
        if (!receive(deadline)) {
            response.body = std::exchange(received_, "");
            return length.empty() ? HttpResponse::End::complete : HttpResponse::End::cut;
        }
    }
    response.body = received_.substr(0, wanted);
    received_.erase(0, wanted);
    return HttpResponse::End::complete;
}

HttpResponse::End RawClient::read_chunks(std::string& body, Deadline deadline) {
    std::size_t at = 0;  // consumed once at the end: erasing per chunk would be quadratic
    while (true) {
        std::size_t line_end = std::string::npos;
        while ((line_end = received_.find("\r\n", at)) == std::string::npos) {
            if (!receive(deadline)) {
                received_.clear();
                return HttpResponse::End::cut;
            }
        }
        const std::size_t size = std::stoul(received_.substr(at, line_end - at), nullptr, 16);
        const std::size_t end = line_end + 2 + size + 2;
        while (received_.size() < end) {
            if (!receive(deadline)) {
                body.append(received_, line_end + 2, size);
                received_.clear();
                return HttpResponse::End::cut;
            }
        }
        body.append(received_, line_end + 2, size);
        at = end;
        if (size == 0) {
            received_.erase(0, at);
            return HttpResponse::End::complete;
        }
    }
}

std::string RawClient::read_to_end(std::chrono::milliseconds bound) {
    const Deadline deadline = after(bound);
    while (receive(deadline)) {
    }
    return std::exchange(received_, "");
}

bool RawClient::is_closed(std::chrono::milliseconds bound) {
    try {
        return received_.empty() && !receive(after(bound));
    } catch (const std::runtime_error&) {
        return false;
    }
}

HttpResponse RawClient::post(std::string_view path, std::string_view body,
                             std::string_view fields) {
    std::string request = "POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n";
    request += "Content-Type: application/json\r\n" + std::string(fields);
    request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    send(request.append(body));
    return read_response();
}

HttpResponse RawClient::get(std::string_view path, std::string_view fields) {
    send("GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) +
         "\r\n");
    return read_response();
}

HttpResponse post(const std::string& address, std::string_view path, std::string_view body) {
    return RawClient(address).post(path, body);
}

HttpResponse get(const std::string& address, std::string_view path) {
    return RawClient(address).get(path);
}

}  // namespace weir::test
