#include "support/http_client.hpp"

#include "core/text.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace weir::test {
namespace {

constexpr timeval kBound{.tv_sec = 10, .tv_usec = 0};

std::optional<std::size_t> number(std::string_view text, int base) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

}  // namespace

std::string HttpAnswer::header(std::string_view name) const {
    std::string_view rest = head;
    while (!rest.empty()) {
        const auto end = rest.find("\r\n");
        const std::string_view line = rest.substr(0, end);
        const auto colon = line.find(':');
        if (colon != std::string_view::npos && core::iequals(line.substr(0, colon), name)) {
            return std::string(core::trim(line.substr(colon + 1)));
        }
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 2);
    }
    return {};
}

HttpClient::HttpClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (socket_ < 0 ||
        connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
        throw std::runtime_error("cannot connect to the server under test");
    }
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kBound, sizeof(kBound));
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kBound, sizeof(kBound));
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

HttpClient::~HttpClient() {
    if (socket_ >= 0) {
        ::close(socket_);
    }
}

bool HttpClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void HttpClient::half_close() { shutdown(socket_, SHUT_WR); }

void HttpClient::reset() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    ::close(socket_);
    socket_ = -1;
}

void HttpClient::receive_buffer(int bytes) {
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

std::string HttpClient::read_some() {
    std::this_thread::sleep_for(pause_);
    std::array<char, 65536> room;
    const ssize_t got = ::recv(socket_, room.data(), room.size(), 0);
    return got > 0 ? std::string(room.data(), static_cast<std::size_t>(got)) : std::string();
}

bool HttpClient::fill() {
    const std::string more = read_some();
    held_ += more;
    return !more.empty();
}

bool HttpClient::is_closed_by_peer() {
    if (!held_.empty()) {
        return false;
    }
    char byte = 0;
    const ssize_t got = ::recv(socket_, &byte, 1, 0);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

std::optional<HttpAnswer> HttpClient::read_answer(Expect expect) {
    std::size_t end = 0;
    while ((end = held_.find("\r\n\r\n")) == std::string::npos) {
        if (!fill()) {
            return std::nullopt;
        }
    }
    HttpAnswer answer;
    answer.head = held_.substr(0, end + 2);
    held_.erase(0, end + 4);
    if (!answer.head.starts_with("HTTP/1.1 ") || answer.head.size() < 12) {
        return std::nullopt;
    }
    answer.status = static_cast<int>(number(answer.head.substr(9, 3), 10).value_or(0));
    if (expect == Expect::head_only || answer.status == 204 || answer.status == 100) {
        return answer;
    }
    if (const auto length = number(answer.header("Content-Length"), 10)) {
        while (held_.size() < *length) {
            if (!fill()) {
                return std::nullopt;
            }
        }
        answer.body = held_.substr(0, *length);
        held_.erase(0, *length);
        return answer;
    }
    if (answer.header("Transfer-Encoding").empty()) {
        while (fill()) {
        }
        answer.body = std::exchange(held_, {});
        return answer;
    }
    for (;;) {
        std::size_t line = 0;
        while ((line = held_.find("\r\n")) == std::string::npos) {
            if (!fill()) {
                return std::nullopt;
            }
        }
        const auto size = number(std::string_view(held_).substr(0, line), 16);
        if (!size) {
            return std::nullopt;
        }
        while (held_.size() < line + 2 + *size + 2) {
            if (!fill()) {
                return std::nullopt;
            }
        }
        answer.body += held_.substr(line + 2, *size);
        held_.erase(0, line + 2 + *size + 2);
        if (*size == 0) {
            return answer;
        }
    }
}

}  // namespace weir::test
