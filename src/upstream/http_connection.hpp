// One TCP connection to an upstream, plain or TLS. For this room's .cpp files only: it brings Asio.
#pragma once

#include "runtime/buffer.hpp"
#include "runtime/deadlines.hpp"
#include "runtime/event.hpp"
#include "runtime/stream.hpp"
#include "runtime/worker.hpp"
#include "upstream/tls.hpp"
#include "upstream/transport.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace weir::upstream {

class IdleConnections;

// A message in pieces, and how far it has gone out.
class Outgoing {
  public:
    // What the views point to must live as long as this.
    Outgoing(std::string_view head, std::string_view length_line,
             std::span<const std::string_view> body);

    bool done() const { return piece_ == body_.size() + kFront; }
    void advance(std::size_t bytes);

    // The next pieces that are not empty, as many as fit.
    std::span<std::string_view> pieces(std::span<std::string_view> into) const;

  private:
    static constexpr std::size_t kFront = 2;
    std::string_view piece(std::size_t index) const {
        return index < kFront ? front_[index] : body_[index - kFront];
    }
    void skip_empty();

    std::array<std::string_view, kFront> front_;
    std::span<const std::string_view> body_;
    std::size_t piece_ = 0;
    std::size_t offset_ = 0;  // into that piece
};

// Deadlines and cancellation close the socket, so that whatever waits for it ends. Same worker.
class HttpConnection final : public runtime::DeadlineWheel::Entry, public Cancellation::Target {
  public:
    using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, runtime::Executor>;

    enum class Stop : std::uint8_t { none, deadline, cancelled };

    explicit HttpConnection(runtime::Worker& worker);
    ~HttpConnection() override;

    // --- opening

    // False: no socket, or no connection; problem() says why. One address at a time; may be called
    // again after a failure.
    runtime::Task<bool> connect(const std::string& address, std::uint16_t port,
                                int descriptors_below);
    runtime::Task<bool> handshake(std::unique_ptr<TlsSession> session);

    // The last connect() failed for want of a descriptor or memory of our own.
    bool lacks_resources() const { return lacks_resources_; }

    // What stopped it, and a fresh start after that (for the next address).
    Stop stopped() const { return stop_; }
    void restart();
    void stop(Stop why);

    // Set by a stop as well; for waiting before there is a socket.
    runtime::Event& interrupt() { return interrupt_; }

    // --- using

    enum class Write : std::uint8_t { done, blocked, failed };
    enum class Read : std::uint8_t {
        data,
        none,       // nothing there now
        end,        // the peer ended the stream properly
        cut_off,    // it ended without TLS's goodbye, was reset, or TLS is broken
        stopped,    // by deadline or cancellation
        no_memory,  // no room in the process's buffer budget
    };

    // Sends what the socket takes now.
    Write write(Outgoing& message);

    // Appends what is here to `into`, which gets at least `room` bytes of room first.
    Read try_read(runtime::Buffer& into, std::size_t room);

    // To be awaited after try_read() has said `none`; what it completes with goes to woken().
    auto wait_readable() {
        return stream_.async_wait(runtime::Stream::Wait::read,
                                  boost::asio::as_tuple(boost::asio::deferred));
    }
    // An operation that was aborted while nobody stopped the connection: the task was cancelled.
    void woken(const boost::system::error_code& error);

    // Returns when the socket has something to read or takes more, or on a stop.
    runtime::Task<> wait_ready();

    // Bytes of the present message that left the process; counts TLS records, not handshakes.
    std::size_t sent() const { return sent_; }

    // A new message begins.
    void begin_message();
    bool reused() const { return messages_ > 1; }

    // True if nothing was received that was not read: no stray bytes, no end. A farewell that is
    // younger than this turn of the event loop may stay unseen; it shows when the reply is read.
    bool is_quiet();
    bool is_open() const { return stream_.is_open(); }

    // Sends TLS's goodbye, if the socket takes it, and closes.
    void close();

    bool resumed() const { return tls_ && tls_->resumed(); }
    const std::string& problem() const { return problem_; }

  private:
    friend class IdleConnections;

    void on_deadline() override;
    void on_cancel() override;

    Write write_plain(Outgoing& message);
    Write write_tls(Outgoing& message);
    Write flush_tls();
    Read decrypt(runtime::Buffer& into);
    Read failed_read(const boost::system::error_code& error);
    runtime::Task<bool> handshake_input();

    runtime::Executor executor_;
    Socket connecting_;
    runtime::Stream stream_;  // once connected
    std::unique_ptr<TlsSession> tls_;
    runtime::Event interrupt_;
    Stop stop_ = Stop::none;
    bool lacks_resources_ = false;
    std::size_t sent_ = 0;
    std::size_t messages_ = 0;
    std::string problem_;

    IdleConnections* idle_in_ = nullptr;
    core::TimePoint idle_until_;
};

}  // namespace weir::upstream
