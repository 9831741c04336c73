// TLS for upstream connections: what is trusted, and one session's bytes in and out. No sockets
// here: whoever owns one carries the ciphertext.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

// OpenSSL's types, without its headers.
struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;
struct bio_st;

namespace weir::upstream {

struct TlsDeleter {
    void operator()(ssl_st* ssl) const;
    void operator()(ssl_ctx_st* context) const;
    void operator()(ssl_session_st* session) const;
    void operator()(bio_st* bio) const;
};

// A store of trusted certificates and the settings that all sessions share: TLS 1.2 and later.
class TlsContext {
  public:
    // `ca_file` in PEM; empty: the system's store. An error names no path.
    static core::Result<std::shared_ptr<TlsContext>> create(const std::string& ca_file);

  private:
    friend class TlsSession;
    std::unique_ptr<ssl_ctx_st, TlsDeleter> context_;
};

// The newest session ticket of one upstream, for resuming. Must outlive the sessions that use it.
class TlsTicket {
  public:
    TlsTicket() = default;
    TlsTicket(const TlsTicket&) = delete;
    TlsTicket& operator=(const TlsTicket&) = delete;

  private:
    friend class TlsContext;
    friend class TlsSession;
    std::unique_ptr<ssl_session_st, TlsDeleter> session_;
};

class TlsSession {
  public:
    enum class Step : std::uint8_t {
        done,
        needs_input,   // the peer has to send first
        needs_output,  // output() has to be sent first
        closed,        // the peer ended the session properly (close_notify)
        failed,        // problem() says why
    };

    // Nothing if OpenSSL is out of memory. `name` is what the certificate must be for: a DNS name
    // or an IP literal.
    static std::unique_ptr<TlsSession> create(const TlsContext& context, const std::string& name,
                                              const config::UpstreamTls& settings,
                                              TlsTicket& ticket);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    Step handshake();
    bool resumed() const;

    // Plaintext. `count` is what was taken or given. After `needs_output` write() must be called
    // with the same bytes again.
    Step read(std::span<char> into, std::size_t& count);
    Step write(std::span<const char> from, std::size_t& count);

    // Ciphertext. input() is room for at least one byte whenever a step needs input.
    std::span<const char> output();
    void sent(std::size_t bytes);
    std::span<char> input();
    void received(std::size_t bytes);

    // Is everything that was received also read, and does the session go on?
    bool is_quiet();

    // Puts a close_notify into output().
    void close();

    const std::string& problem() const { return problem_; }

  private:
    TlsSession() = default;
    Step result_of(int result);

    std::unique_ptr<ssl_st, TlsDeleter> ssl_;
    std::unique_ptr<bio_st, TlsDeleter> network_;
    std::string problem_;
};

}  // namespace weir::upstream
