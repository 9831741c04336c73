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
    failed.origin = TransportFailure::Origin::no_room;
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

Read try_receive(HttpConnection& connection, ReplyBody& body, runtime::Buffer& out) {
    runtime::Buffer& wire = body.wire(out);
    const std::size_t before = wire.size();
    const Read read = connection.try_read(wire, body.wanted());
    if (read == Read::data) {
        body.received(out, wire.size() - before);
    }
    return read;
}

Failed failure_of(Read read, const HttpConnection& connection, ReplyBody& body, bool& ended) {
    switch (read) {
        case Read::data:
            return std::nullopt;
        case Read::end:
            // Without a length of its own the body is whole only if the stream ended properly.
            ended = body.finish() == ReplyBody::Step::end;
            if (ended) {
                return std::nullopt;
            }
            return failure(connection, Cause::connection_lost, std::string(body.problem()));
        case Read::stopped:
            return stopped_failure(connection);
        case Read::no_memory:
            return no_memory(connection);
        default:
            return failure(connection, Cause::connection_lost,
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
      received_(worker.buffers) {
    connection_.begin_message();
}

Exchange::Step Exchange::advance() {
    Step step = Step::done;
    if (phase_ == Phase::send) {
        step = send();
    }
    if (phase_ == Phase::head) {
        step = read_head();
    }
    if (phase_ == Phase::body) {
        step = read_body();
    }
    return failure_ ? Step::failed : step;
}

// The peer may answer before it has read everything (413), and after it stopped reading its answer
// may still be there.
Exchange::Step Exchange::send() {
    if (connection_.write(outgoing_) != Write::blocked) {
        phase_ = Phase::head;  // a failure shows when the reply is read
        return Step::wait_readable;
    }
    const Read read = connection_.try_read(buffer_, runtime::BufferPool::kBlock);
    if (read != Read::none) {
        took(read);
    }
    return Step::wait_ready;
}

Exchange::Step Exchange::read_head() {
    while (phase_ == Phase::head && !failure_) {
        const Read read = connection_.try_read(buffer_, 1);
        if (read == Read::none) {
            break;
        }
        took(read);
    }
    return Step::wait_readable;
}

Exchange::Step Exchange::read_body() {
    while (!failure_) {
        const ReplyBody::Step step = body_->take(received_, body_limit_);
        ended_ = ended_ || step == ReplyBody::Step::end;
        if (ended_ || step == ReplyBody::Step::full) {
            return Step::done;
        }
        if (step != ReplyBody::Step::more) {
            failure_ = failure_of(step, *body_, connection_);
            break;
        }
        const Read read = try_receive(connection_, *body_, received_);
        if (read == Read::none) {
            return Step::wait_readable;
        }
        failure_ = failure_of(read, connection_, *body_, ended_);
        if (ended_) {
            return Step::done;
        }
    }
    return Step::failed;
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

// Judges what a read of the head brought.
void Exchange::took(Read read) {
    switch (read) {
        case Read::data:
            return parse();
        case Read::stopped:
            failure_ = stopped_failure(connection_);
            return;
        case Read::no_memory:
            failure_ = no_memory(connection_);
            return;
        default: {
            peer_left_ = true;
            std::string detail = buffer_.empty() ? "the connection ended without a reply"
                                                 : "the connection ended within the reply's header";
            if (!connection_.problem().empty()) {
                detail += ": " + connection_.problem();
            }
            failure_ = failure(connection_, Cause::connection_lost, std::move(detail));
        }
    }
}

void Exchange::parse() {
    const ReplyHeadParser::Step step = parser_.parse(buffer_.bytes());
    if (step == ReplyHeadParser::Step::bad) {
        failure_ = failure(connection_, Cause::bad_reply, std::string(parser_.problem()));
    } else if (step == ReplyHeadParser::Step::done) {
        begin_body();
        phase_ = Phase::body;
    }
}

}  // namespace weir::upstream
