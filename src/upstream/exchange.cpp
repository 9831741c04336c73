#include "upstream/exchange.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace weir::upstream {
namespace {

using routing::Cause;
using routing::TransportFailure;
using Read = HttpConnection::Read;
using Write = HttpConnection::Write;
using Sent = TransportFailure::Sent;

// A longer reply is handed on once this much of it is here: enough to show what it is.
constexpr std::size_t kFirstPiece = runtime::BufferPool::kBlock;

TransportFailure failure(const HttpConnection& connection, Cause cause, std::string detail) {
    return {cause, connection.sent() == 0 ? Sent::nothing : Sent::something, std::move(detail)};
}

TransportFailure no_memory(const HttpConnection& connection) {
    TransportFailure failed = failure(connection, Cause::connection_lost,
                                      "no room for the reply: max_buffered is used up");
    failed.origin = TransportFailure::Origin::gateway;
    return failed;
}

std::size_t body_size(std::span<const std::string_view> pieces) {
    std::size_t size = 0;
    for (const std::string_view piece : pieces) {
        size += piece.size();
    }
    return size;
}

// `<size>\r\n\r\n`: the end of the request's head.
std::string_view write_length(std::array<char, 32>& line, std::size_t size) {
    constexpr std::string_view kEnd = "\r\n\r\n";
    char* end = std::to_chars(line.data(), line.data() + line.size() - kEnd.size(), size).ptr;
    std::memcpy(end, kEnd.data(), kEnd.size());
    return {line.data(), static_cast<std::size_t>(end - line.data()) + kEnd.size()};
}

}  // namespace

TransportFailure stopped_failure(const HttpConnection& connection) {
    if (connection.stopped() == HttpConnection::Stop::deadline) {
        return failure(connection, Cause::timeout, "no whole reply in time");
    }
    TransportFailure failed =
        failure(connection, Cause::connection_lost, "the attempt was cancelled");
    failed.origin = TransportFailure::Origin::gateway;
    return failed;
}

Failed failure_of(ReplyBody::Step step, const ReplyBody& body, const HttpConnection& connection) {
    switch (step) {
        case ReplyBody::Step::bad:
            return failure(connection, Cause::bad_reply, std::string(body.problem()));
        case ReplyBody::Step::no_memory:
            return no_memory(connection);
        default:
            return std::nullopt;
    }
}

runtime::Task<Failed> receive(HttpConnection& connection, ReplyBody& body, runtime::Buffer& out,
                              bool& ended) {
    runtime::Buffer& wire = body.wire(out);
    const std::size_t before = wire.size();
    const Read read = co_await connection.read(wire, body.wanted());
    switch (read) {
        case Read::data:
            body.received(out, wire.size() - before);
            co_return std::nullopt;
        case Read::end:
            // Without a length of its own the body is whole only if the stream ended properly.
            ended = body.finish() == ReplyBody::Step::end;
            if (ended) {
                co_return std::nullopt;
            }
            co_return failure(connection, Cause::connection_lost, std::string(body.problem()));
        case Read::stopped:
            co_return stopped_failure(connection);
        case Read::no_memory:
            co_return no_memory(connection);
        default:
            co_return failure(connection, Cause::connection_lost,
                              "the reply breaks off: " + connection.problem());
    }
}

Exchange::Exchange(runtime::Worker& worker, HttpConnection& connection,
                   std::string_view request_head, const Attempt& attempt)
    : connection_(connection),
      attempt_(attempt),
      outgoing_(request_head, write_length(length_line_, body_size(attempt.body)), attempt.body),
      buffer_(worker.buffers),
      parser_(attempt.rate_fields),
      received_(worker.buffers) {}

runtime::Task<Failed> Exchange::run() {
    connection_.begin_message();
    if (connection_.write(outgoing_) != Write::done) {
        Failed failed = co_await send();
        if (failed) {
            co_return failed;
        }
    }
    while (!head_done_) {
        const Read read = co_await connection_.read(buffer_, 1);
        Failed failed = took(read);
        if (failed) {
            co_return failed;
        }
    }
    begin_body();
    for (;;) {
        const ReplyBody::Step step = body_->take(received_, body_limit_);
        if (step == ReplyBody::Step::end) {
            ended_ = true;
            co_return std::nullopt;
        }
        if (step != ReplyBody::Step::more) {
            co_return failure_of(step, *body_, connection_);
        }
        Failed failed = co_await receive(connection_, *body_, received_, ended_);
        if (failed || ended_) {
            co_return failed;
        }
    }
}

void Exchange::begin_body() {
    const ReplyHead& head = parser_.head();
    const bool known_long = head.framing == Framing::length && head.length > attempt_.reply_buffer;
    // One byte beyond what may come whole shows that the body is longer.
    body_limit_ =
        known_long ? std::min(attempt_.reply_buffer + 1, kFirstPiece) : attempt_.reply_buffer + 1;
    buffer_.consume(parser_.size());
    body_.emplace(head, attempt_.max_reply, std::move(buffer_));
}

// What the socket did not take at once. The peer may answer before it has read everything (413),
// and after it stopped reading its answer may still be there.
runtime::Task<Failed> Exchange::send() {
    for (;;) {
        const Write written = connection_.write(outgoing_);
        if (written != Write::blocked) {
            co_return std::nullopt;  // a failure shows when the reply is read
        }
        co_await connection_.wait_ready();
        const Read read = connection_.try_read(buffer_, runtime::BufferPool::kBlock);
        if (read == Read::none) {
            continue;
        }
        Failed failed = took(read);
        if (failed || head_done_) {
            co_return failed;
        }
    }
}

// Judges what a read of the head brought.
Failed Exchange::took(Read read) {
    switch (read) {
        case Read::data:
            return parse();
        case Read::stopped:
            return stopped_failure(connection_);
        case Read::no_memory:
            return no_memory(connection_);
        default: {
            peer_left_ = true;
            std::string detail = buffer_.empty() ? "the connection ended without a reply"
                                                 : "the connection ended within the reply's header";
            if (!connection_.problem().empty()) {
                detail += ": " + connection_.problem();
            }
            return failure(connection_, Cause::connection_lost, std::move(detail));
        }
    }
}

Failed Exchange::parse() {
    const ReplyHeadParser::Step step = parser_.parse(buffer_.bytes());
    head_done_ = step == ReplyHeadParser::Step::done;
    if (step == ReplyHeadParser::Step::bad) {
        return failure(connection_, Cause::bad_reply, std::string(parser_.problem()));
    }
    return std::nullopt;
}

}  // namespace weir::upstream
