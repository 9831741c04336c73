// One TLS session's bytes in and out. No sockets here: whoever owns one carries the ciphertext.
#pragma once

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

namespace weir::runtime {

struct TlsDeleter {
    void operator()(ssl_st* ssl) const;
    void operator()(ssl_ctx_st* context) const;
    void operator()(ssl_session_st* session) const;
    void operator()(bio_st* bio) const;
};

// What OpenSSL says went wrong, and forgets it.
std::string last_tls_error(const char* fallback);

class TlsSession {
  public:
    enum class Step : std::uint8_t {
        done,
        needs_input,   // the peer has to send first
        needs_output,  // output() has to be sent first
        closed,        // the peer ended the session properly (close_notify)
        failed,        // problem() says why
    };

    // Takes a fresh session over, of either side; nothing if OpenSSL is out of memory.
    static std::unique_ptr<TlsSession> over(ssl_st* ssl);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    Step handshake();
    bool resumed() const;

    // Plaintext. `count` is what was taken or given. After `needs_output` write() must be called
    // with the same bytes again.
    Step read(std::span<char> into, std::size_t& count);
    Step write(std::span<const char> from, std::size_t& count);
    // As read(), but what it would give stays.
    Step peek();

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

}  // namespace weir::runtime
