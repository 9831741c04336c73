// A TCP peer on loopback that does to each connection exactly what a test's script says.
#pragma once

#include "support/certificates.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct ssl_st;
struct ssl_ctx_st;

namespace weir::test {

// The peer's end of one connection. Blocking; every wait ends after ten seconds at the latest.
class PeerConnection {
  public:
    PeerConnection(int socket, ssl_ctx_st* tls);
    ~PeerConnection();
    PeerConnection(const PeerConnection&) = delete;
    PeerConnection& operator=(const PeerConnection&) = delete;

    // A whole request with a Content-Length, head and body; empty when the other side is gone.
    std::string read_request();

    // Something that arrives, at most `most` bytes; empty at the end.
    std::string read_some(std::size_t most = 4096);

    bool send(const std::string& bytes);  // false: the other side does not take it

    bool accept_tls();  // done by itself before the script, if TLS is on
    bool resumed() const;
    std::string server_name() const;  // what the client asked for

    // Returns once the other side's kernel holds everything that was sent.
    void wait_delivered();

    void finish();  // FIN; with TLS close_notify first. Returns when it has arrived.
    void cut();     // FIN without TLS's goodbye. Returns when it has arrived.
    void reset();   // RST
    void close();   // without waiting for anything
    bool is_open() const { return socket_ >= 0; }

    // Waits until the other side has closed.
    void wait_closed();

  private:
    int socket_;
    ssl_st* tls_ = nullptr;
    std::string ahead_;
};

// Serves every connection on a thread of its own.
class ScriptedPeer {
  public:
    // `number` counts connections from 0.
    using Script = std::function<void(PeerConnection& connection, int number)>;

    explicit ScriptedPeer(Script script, const Certificate* certificate = nullptr,
                          bool handshake = true);
    ~ScriptedPeer();  // joins; scripts end because their connections do
    ScriptedPeer(const ScriptedPeer&) = delete;
    ScriptedPeer& operator=(const ScriptedPeer&) = delete;

    std::uint16_t port() const { return port_; }
    int connections() const { return connections_; }

  private:
    void accept_all();

    Script script_;
    bool handshake_;
    ssl_ctx_st* tls_ = nullptr;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<int> connections_ = 0;
    std::atomic<bool> stopping_ = false;
    struct Running {
        std::atomic<bool> ended = false;
        std::thread thread;
    };
    std::list<Running> scripts_;
    std::thread acceptor_;
};

// A port of 127.0.0.1 on which nobody listens, and one that never completes a connection.
std::uint16_t refused_port();
class BlackHole {
  public:
    BlackHole();
    ~BlackHole();
    BlackHole(const BlackHole&) = delete;
    BlackHole& operator=(const BlackHole&) = delete;
    std::uint16_t port() const { return port_; }

  private:
    std::vector<int> sockets_;
    std::uint16_t port_ = 0;
};

// `HTTP/1.1 200 OK` with a length and this body.
std::string good_reply(const std::string& body);

}  // namespace weir::test
