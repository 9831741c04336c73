// The benchmark's provider: a small HTTP server that answers JSON-RPC calls as fast as it can, with
// the ids it was asked with. POST /N stands for a chain of id N whose usual reply is N bytes long.
//
//   bench_upstream            prints its port on a line and serves until it is told to end
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

struct Connection {
    int socket = -1;
    std::string in;
    std::string out;
    std::size_t sent = 0;
};

std::string hex(std::size_t value) {
    std::array<char, 16> digits{};
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    return "0x" + std::string(digits.data(), end);
}

std::size_t number_at(std::string_view text) {
    std::size_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// What follows `key`; empty if it is not there.
std::string_view after(std::string_view text, std::string_view key) {
    const std::size_t at = text.find(key);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
}

// A block that changes every 12 s, so that the chain is seen to move.
std::string block() {
    const auto now = static_cast<std::size_t>(std::time(nullptr));
    const std::size_t number = now / 12;
    std::string hash = hex(number).substr(2);
    hash = "0x" + std::string(64 - hash.size(), '0') + hash;
    std::string parent = hex(number - 1).substr(2);
    parent = "0x" + std::string(64 - parent.size(), '0') + parent;
    return R"({"number":")" + hex(number) + R"(","hash":")" + hash + R"(","parentHash":")" +
           parent + R"(","timestamp":")" + hex(number * 12) + R"("})";
}

// `call` begins at a call's id and holds its method. The calls are those of this benchmark and of
// the gateways in it: members in the usual order, ids that are numbers.
void append_reply(std::string& out, std::string_view call, std::size_t size) {
    const std::string_view id = call.substr(0, call.find_first_not_of("0123456789"));
    const std::string_view method = after(call, R"("method":")");
    const std::size_t begin = out.size();
    out += R"({"jsonrpc":"2.0","id":)";
    out += id;
    out += R"(,"result":)";
    if (method.starts_with("eth_chainId")) {
        out += '"' + hex(size) + '"';
    } else if (method.starts_with("eth_getBlockByNumber")) {
        out += block();
    } else {
        out += R"("0x)";
        const std::size_t length = out.size() - begin + 2;
        out.append(size > length ? size - length : 2, 'a');
        out += '"';
    }
    out += '}';
}

std::string replies(std::string_view body, std::size_t size) {
    constexpr std::string_view kId = R"("id":)";
    const bool batch = body.starts_with('[');
    std::string out = batch ? "[" : "";
    for (std::string_view call = after(body, kId); !call.empty(); call = after(call, kId)) {
        if (out.size() > 1) {
            out += ',';
        }
        append_reply(out, call, size);
    }
    return batch ? out + ']' : out;
}

// Takes one whole request out of `in`; false if there is none yet.
bool answer_one(Connection& connection) {
    const std::string_view in = connection.in;
    const std::size_t head_end = in.find("\r\n\r\n");
    if (head_end == std::string_view::npos) {
        return false;
    }
    const std::string_view head = in.substr(0, head_end);
    std::string_view length = after(head, "\r\nContent-Length: ");
    if (length.empty()) {
        length = after(head, "\r\ncontent-length: ");
    }
    const std::size_t whole = head_end + 4 + number_at(length);
    if (in.size() < whole) {
        return false;
    }
    const std::size_t size = number_at(after(head, "/"));
    const std::string body = replies(in.substr(head_end + 4, whole - head_end - 4), size);
    connection.out += "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n\r\n";
    connection.out += body;
    connection.in.erase(0, whole);
    return true;
}

// False: the connection has ended.
bool flush(Connection& connection) {
    while (connection.sent < connection.out.size()) {
        const ssize_t sent = send(connection.socket, connection.out.data() + connection.sent,
                                  connection.out.size() - connection.sent, MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN;
        }
        connection.sent += static_cast<std::size_t>(sent);
    }
    connection.out.clear();
    connection.sent = 0;
    return true;
}

bool serve(Connection& connection) {
    std::array<char, 64 * 1024> bytes;
    const ssize_t count = recv(connection.socket, bytes.data(), bytes.size(), 0);
    if (count < 0) {
        return errno == EAGAIN && flush(connection);
    }
    if (count == 0) {
        return false;
    }
    connection.in.append(bytes.data(), static_cast<std::size_t>(count));
    while (answer_one(connection)) {
    }
    return flush(connection);
}

void watch(int poll, int socket, Connection* connection, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = connection;
    epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
}

}  // namespace

int main() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener, 4096) != 0 ||
        getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        std::perror("bench_upstream");
        return 1;
    }
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);

    const int poll = epoll_create1(EPOLL_CLOEXEC);
    watch(poll, listener, nullptr, EPOLLIN);
    std::array<epoll_event, 256> events;
    for (;;) {
        const int count = epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < count; ++i) {
            auto* const known =
                static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
            if (known == nullptr) {
                const int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
                if (socket >= 0) {
                    const int on = 1;
                    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
                    auto fresh = std::make_unique<Connection>();
                    fresh->socket = socket;
                    watch(poll, socket, fresh.release(), EPOLLIN | EPOLLOUT | EPOLLET);
                }
                continue;
            }
            if (!serve(*known)) {
                close(known->socket);
                const std::unique_ptr<Connection> ended(known);
            }
        }
    }
}
