// One message and its reply on one connection: what to do next, without waiting for it. For this
// room's .cpp files only.
#pragma once

#include "routing/verdict.hpp"
#include "runtime/buffer.hpp"
#include "runtime/recycled.hpp"
#include "upstream/http_connection.hpp"
#include "upstream/http_reply_parser.hpp"
#include "upstream/reply_body.hpp"
#include "upstream/transport.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::upstream {

// Nothing where it went well.
using Failed = std::optional<routing::TransportFailure>;

// What a connection's stop means for the attempt on it.
routing::TransportFailure stopped_failure(const HttpConnection& connection);

// Brings one more piece of the body from the wire, if it is here. To be called when `body` has said
// `more`.
HttpConnection::Read try_receive(HttpConnection& connection, ReplyBody& body, runtime::Buffer& out);

// What try_receive() came to, other than `none`. `ended` is set when that was the end of a body
// that only the stream's end can end.
Failed failure_of(HttpConnection::Read read, const HttpConnection& connection, ReplyBody& body,
                  bool& ended);

// What take() came to, where that is a failure.
Failed failure_of(ReplyBody::Step step, const ReplyBody& body, const HttpConnection& connection);

class Exchange final : public runtime::Recycled {
  public:
    // `request_head` ends in `Content-Length: `. Everything must outlive the exchange.
    Exchange(runtime::Worker& worker, HttpConnection& connection, std::string_view request_head,
             const Attempt& attempt);

    // Sends the message; reads the reply's head and its body up to `reply_buffer`: as far as that
    // goes without waiting, and what to wait for before the next call.
    enum class Step : std::uint8_t {
        done,
        failed,
        wait_readable,
        wait_ready,  // to be read or written
    };
    Step advance();

    // After `failed`.
    routing::TransportFailure& why() { return *failure_; }

    // After a failure: the peer ended the connection without a byte of reply, as it does when it
    // closes an idle connection at the moment of its reuse.
    bool peer_left_silently() const { return peer_left_ && buffer_.empty(); }

    // After success.
    ReplyHead& head() { return parser_.head(); }
    ReplyBody& body() { return *body_; }
    runtime::Buffer& received() { return received_; }
    bool ended() const { return ended_; }  // `received` is the whole body
    bool sent_whole() const { return outgoing_.done(); }

  private:
    enum class Phase : std::uint8_t { send, head, body };

    Step send();
    Step read_head();
    Step read_body();
    void begin_body();
    void took(HttpConnection::Read read);
    void parse();

    HttpConnection& connection_;
    const Attempt& attempt_;
    std::array<char, 32> length_line_;
    Outgoing outgoing_;
    runtime::Buffer buffer_;
    ReplyHeadParser parser_;
    std::optional<ReplyBody> body_;
    runtime::Buffer received_;
    std::size_t body_limit_ = 0;  // how much of the body is waited for
    Failed failure_;
    Phase phase_ = Phase::send;
    bool ended_ = false;
    bool peer_left_ = false;
};

}  // namespace weir::upstream
