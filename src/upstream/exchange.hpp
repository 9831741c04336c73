// One message and its reply on one connection. For this room's .cpp files only.
#pragma once

#include "routing/verdict.hpp"
#include "runtime/buffer.hpp"
#include "runtime/task.hpp"
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

// Brings one more piece of the body from the wire. To be called when `body` has said `more`;
// `ended` is set when that was the end of a body that only the stream's end can end.
runtime::Task<Failed> receive(HttpConnection& connection, ReplyBody& body, runtime::Buffer& out,
                              bool& ended);

// What take() came to, where that is a failure.
Failed failure_of(ReplyBody::Step step, const ReplyBody& body, const HttpConnection& connection);

class Exchange {
  public:
    // `request_head` ends in `Content-Length: `. Everything must outlive run().
    Exchange(runtime::Worker& worker, HttpConnection& connection, std::string_view request_head,
             const Attempt& attempt);

    // Sends the message; reads the reply's head and its body up to `reply_buffer`.
    runtime::Task<Failed> run();

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
    runtime::Task<Failed> send();
    void begin_body();
    Failed took(HttpConnection::Read read);
    Failed parse();

    HttpConnection& connection_;
    const Attempt& attempt_;
    std::array<char, 32> length_line_;
    Outgoing outgoing_;
    runtime::Buffer buffer_;
    ReplyHeadParser parser_;
    std::optional<ReplyBody> body_;
    runtime::Buffer received_;
    std::size_t body_limit_ = 0;  // how much of the body is waited for
    bool head_done_ = false;
    bool ended_ = false;
    bool peer_left_ = false;
};

}  // namespace weir::upstream
