// One client's TCP connection: bytes in, bytes out, and the times by which they must move. Pulls
// Asio's sockets in; for the server's own .cpp files.
#pragma once

#include "runtime/stream.hpp"
#include "runtime/tls_session.hpp"
#include "runtime/worker.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace weir::server {

// Lives on one worker. One coroutine reads and writes; any code of the worker may cut().
class Wire final : private runtime::DeadlineWheel::Entry {
  public:
    enum class Read : std::uint8_t { data, end, expired, no_memory, failed };

    // Takes the connected, non-blocking socket over.
    Wire(runtime::Worker& worker, int descriptor);

    // From now on what goes over the wire is this session's. Before any byte; once. False: it came
    // to nothing until the deadline, or what the client sent is no TLS; the wire is to be closed.
    runtime::Task<bool> secure(std::unique_ptr<runtime::TlsSession> session);
    ~Wire() override;

    // What has arrived and was not consumed yet.
    runtime::Buffer& buffer() { return buffer_; }

    // Reads end as `expired` from then on.
    void set_deadline(core::TimePoint when);
    // As set_deadline(), for a connection between two requests: its memory is given back to the
    // pool if nothing arrives soon; the first time at once, as many connections carry one request.
    void set_idle_deadline(core::TimePoint now, core::TimePoint when);
    void clear_deadline() { disarm(); }

    // Appends at least one byte to the buffer. `wanted` is how many are known to be coming.
    runtime::Task<Read> read(std::size_t wanted);

    // The same without a coroutine of its own. Nothing: wait_readable() is to be awaited; what it
    // completes with goes to woken(), which may know how the read ends. Then it is tried again.
    std::optional<Read> try_read(std::size_t wanted);
    auto wait_readable() {
        released_before_ = release_;
        return stream_.async_wait(runtime::Stream::Wait::read,
                                  boost::asio::as_tuple(boost::asio::deferred));
    }
    std::optional<Read> woken(const boost::system::error_code& error) const;

    // Pieces that go out one after another. The prefix may be scratch memory: it is copied if it
    // cannot be sent at once.
    struct Outgoing {
        std::string_view prefix;
        std::span<const std::string_view> pieces;
        std::string_view suffix;
        std::size_t sent = 0;

        // Fills `places` with what is still to be sent; returns how many were used.
        std::size_t gather(std::span<std::string_view> places) const;
    };
    enum class Sent : std::uint8_t { all, blocked, failed };

    // Sends what the socket takes now.
    Sent send_now(Outgoing& out);
    // Sends the rest of what send_now() left; gives up if the client takes less than
    // kProgressBytes in `patience`. A failed wire must be cut.
    runtime::Task<bool> send_rest(Outgoing out, core::Duration patience);
    static constexpr std::size_t kProgressBytes = 64 * 1024;

    // Until unwatch(), from kWatchAfter behind `started` on: tells when the client is gone. A
    // client that has only closed its sending side is served on: to find out which it is, the first
    // bytes of the answer, the same for every answer, are sent ahead; who is gone replies with a
    // reset.
    class Watcher {
      public:
        virtual ~Watcher() = default;
        virtual void on_gone() = 0;
    };
    void watch(Watcher& watcher, core::TimePoint started);
    void unwatch();
    static constexpr core::Duration kWatchAfter = core::milliseconds(20);
    static constexpr std::string_view kSentAhead = "HTTP/1.1 ";
    // Bytes of the next answer that are out already.
    std::size_t take_sent_ahead() { return std::exchange(sent_ahead_, 0); }

    // Nothing more is sent; waits a bounded time for the client to close, throwing away what it
    // sends, so that it can read the last answer before the connection ends.
    runtime::Task<> close();

    // Ends the connection at once, with a reset.
    void cut();
    bool is_cut() const { return cut_; }

    // Ends what the coroutine waits for, if nothing has arrived; it reads `failed`.
    void cut_if_silent();

  private:
    enum class Alarm : std::uint8_t { release_memory, expire, watch };
    struct Watch;

    enum class Flushed : std::uint8_t { all, blocked, failed };
    Flushed flush();
    template <std::size_t most>
    Sent send_plain(Outgoing& out);
    Sent encrypt(Outgoing& out);
    std::optional<Read> decrypt();
    bool goodbye_said();
    bool receive_ciphertext();
    void send_ahead();

    void on_deadline() override;
    bool is_broken();
    void look();
    void wait_and_look(runtime::Stream::Wait what);

    runtime::Worker& worker_;
    runtime::Stream stream_;
    runtime::Buffer buffer_;
    core::TimePoint deadline_;
    Alarm alarm_ = Alarm::expire;
    bool release_ = true;           // a new connection needs no memory before it speaks
    bool released_before_ = false;  // a wait for more began
    bool idled_before_ = false;
    bool expired_ = false;
    bool cut_ = false;
    std::shared_ptr<Watch> watch_;  // shared with what waits on the socket for it
    Watcher* watcher_ = nullptr;
    std::size_t sent_ahead_ = 0;
    std::unique_ptr<runtime::TlsSession> tls_;  // null: plain
    bool ended_ = false;                        // the client's stream, beneath TLS
};

}  // namespace weir::server
