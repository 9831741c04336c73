#include "support/scripted_peer.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::test {
namespace {

constexpr timeval kPatience = {10, 0};

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int bind_loopback(std::uint16_t& port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::runtime_error("no loopback port");
    }
    port = ntohs(address.sin_port);
    return socket;
}

template <class Condition>
void poll_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kPatience.tv_sec);
    while (!condition() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

int tcp_state(int socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_state
                                                                        : TCP_CLOSE;
}

}  // namespace

PeerConnection::PeerConnection(int socket, ssl_ctx_st* tls) : socket_(socket) {
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (tls != nullptr) {
        tls_ = SSL_new(tls);
        SSL_set_fd(tls_, socket_);
    }
}

PeerConnection::~PeerConnection() {
    SSL_free(tls_);
    if (socket_ >= 0) {
        ::close(socket_);
    }
}

bool PeerConnection::accept_tls() { return SSL_accept(tls_) == 1; }

bool PeerConnection::resumed() const { return SSL_session_reused(tls_) == 1; }

std::string PeerConnection::server_name() const {
    const char* name = SSL_get_servername(tls_, TLSEXT_NAMETYPE_host_name);
    return name != nullptr ? name : "";
}

std::string PeerConnection::read_some(std::size_t most) {
    std::string bytes(most, '\0');
    const auto count = tls_ != nullptr ? SSL_read(tls_, bytes.data(), static_cast<int>(most))
                                       : recv(socket_, bytes.data(), most, 0);
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
}

std::string PeerConnection::read_request() {
    for (;;) {
        const std::size_t head = ahead_.find("\r\n\r\n");
        if (head != std::string::npos) {
            const std::size_t field = ahead_.find("Content-Length: ");
            const std::size_t whole = head + 4 + std::stoul(ahead_.substr(field + 16));
            if (ahead_.size() >= whole) {
                std::string request = ahead_.substr(0, whole);
                ahead_.erase(0, whole);
                return request;
            }
        }
        const std::string more = read_some(64 * 1024);
        if (more.empty()) {
            return {};
        }
        ahead_ += more;
    }
}

bool PeerConnection::send(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const std::size_t left = bytes.size() - sent;
        const auto count = tls_ != nullptr
                               ? SSL_write(tls_, bytes.data() + sent, static_cast<int>(left))
                               : ::send(socket_, bytes.data() + sent, left, MSG_NOSIGNAL);
        if (count <= 0) {
            return false;
        }
        sent += static_cast<std::size_t>(count);
    }
    return true;
}

void PeerConnection::wait_delivered() {
    poll_until([this] {
        int waiting = 0;
        return ioctl(socket_, SIOCOUTQ, &waiting) != 0 || waiting == 0;
    });
}

void PeerConnection::finish() {
    if (tls_ != nullptr) {
        SSL_shutdown(tls_);
    }
    cut();
}

void PeerConnection::cut() {
    shutdown(socket_, SHUT_WR);
    poll_until([this] { return tcp_state(socket_) != TCP_FIN_WAIT1; });
}

void PeerConnection::reset() {
    const linger at_once = {1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

void PeerConnection::close() {
    ::close(socket_);
    socket_ = -1;
}

void PeerConnection::wait_closed() {
    char bytes[4096];
    while (recv(socket_, bytes, sizeof bytes, 0) > 0) {
    }
}

ScriptedPeer::ScriptedPeer(Script script, const Certificate* certificate, bool handshake)
    : script_(std::move(script)), handshake_(handshake) {
    if (certificate != nullptr) {
        std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets without MSG_NOSIGNAL
        tls_ = SSL_CTX_new(TLS_server_method());
        SSL_CTX_use_certificate(tls_, certificate->certificate.get());
        SSL_CTX_use_PrivateKey(tls_, certificate->key.get());
    }
    listener_ = bind_loopback(port_);
    listen(listener_, 128);
    acceptor_ = std::thread([this] { accept_all(); });
}

ScriptedPeer::~ScriptedPeer() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);  // wakes accept()
    acceptor_.join();
    ::close(listener_);
    for (Running& script : scripts_) {
        script.thread.join();
    }
    SSL_CTX_free(tls_);
}

void ScriptedPeer::accept_all() {
    while (!stopping_) {
        const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) {
            continue;
        }
        for (auto each = scripts_.begin(); each != scripts_.end();) {
            if (each->ended) {
                each->thread.join();
                each = scripts_.erase(each);
            } else {
                ++each;
            }
        }
        const int number = connections_++;
        Running& running = scripts_.emplace_back();
        running.thread = std::thread([this, socket, number, &running] {
            {
                PeerConnection connection(socket, tls_);
                if (tls_ == nullptr || !handshake_ || connection.accept_tls()) {
                    script_(connection, number);
                }
            }
            running.ended = true;
        });
    }
}

std::uint16_t refused_port() {
    std::uint16_t port = 0;
    ::close(bind_loopback(port));
    return port;
}

BlackHole::BlackHole() {
    sockets_.push_back(bind_loopback(port_));
    listen(sockets_.front(), 0);
    // Once the queue of a listener that never accepts is full, the kernel drops what comes.
    for (int i = 0; i < 8; ++i) {
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        const sockaddr_in address = loopback(port_);
        connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        sockets_.push_back(socket);
        pollfd state = {socket, POLLOUT, 0};
        if (poll(&state, 1, 200) == 0) {
            return;
        }
    }
    throw std::runtime_error("the listener's queue does not fill up");
}

BlackHole::~BlackHole() {
    for (const int socket : sockets_) {
        ::close(socket);
    }
}

std::string good_reply(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace weir::test
