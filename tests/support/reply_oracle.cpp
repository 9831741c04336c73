#include "support/reply_oracle.hpp"

#include "upstream/http_reply_parser.hpp"
#include "upstream/reply_body.hpp"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>

namespace weir::test {
namespace {

namespace http = boost::beast::http;
using runtime::Buffer;
using upstream::ReplyBody;
using upstream::ReplyHeadParser;

constexpr std::size_t kMaxReply = 1 << 20;

struct Understood {
    bool good = false;
    bool needs_end = false;  // it took the stream's end to complete it
    upstream::ReplyHead head;
    std::string body;
    bool surplus = false;
    std::string complaint;

    friend bool operator==(const Understood& a, const Understood& b) {
        return a.good == b.good &&
               (!a.good || (a.body == b.body && a.head.http.status == b.head.http.status &&
                            a.surplus == b.surplus && a.head.keep_alive == b.head.keep_alive));
    }
};

// Reads `wire` as the transport does: `piece` bytes at a time, taking at most `limit`.
Understood understand(std::string_view wire, std::size_t piece, std::size_t limit) {
    runtime::MemoryBudget budget(16 << 20);
    runtime::BufferPool pool(budget);
    Buffer received(pool);
    Understood result;
    ReplyHeadParser parser;
    ReplyHeadParser::Step step = ReplyHeadParser::Step::more;
    while (step == ReplyHeadParser::Step::more && !wire.empty()) {
        if (!received.append(wire.substr(0, piece))) {
            result.complaint = "a head that grows without bound";
            return result;
        }
        wire.remove_prefix(std::min(piece, wire.size()));
        step = parser.parse(received.bytes());
    }
    if (step != ReplyHeadParser::Step::done) {
        return result;
    }
    if (parser.size() > received.size()) {
        result.complaint = "a head longer than what was received";
        return result;
    }
    received.consume(parser.size());
    result.head = parser.head();
    ReplyBody body(parser.head(), kMaxReply, std::move(received));
    Buffer out(pool);
    ReplyBody::Step took = ReplyBody::Step::more;
    for (;;) {
        took = body.take(out, limit);
        if (took == ReplyBody::Step::more && !wire.empty()) {
            const std::string_view next = wire.substr(0, piece);
            if (!body.wire(out).append(next)) {
                result.complaint = "a body that grows without bound";
                return result;
            }
            wire.remove_prefix(next.size());
            body.received(out, next.size());
            continue;
        }
        if (took == ReplyBody::Step::more) {
            result.needs_end = true;
            took = body.finish();
        }
        result.body += out.bytes();
        out.clear();
        if (took != ReplyBody::Step::full) {
            break;
        }
    }
    if (result.body.size() > kMaxReply + runtime::BufferPool::kBlock) {
        result.complaint = "a body beyond its limit";
    }
    result.good = took == ReplyBody::Step::end;
    result.surplus = body.has_surplus() || !wire.empty();
    return result;
}

std::string compare_with_beast(std::string_view wire, const Understood& ours) {
    if (ours.head.coding != upstream::Coding::identity || ours.surplus) {
        return {};
    }
    http::response_parser<http::string_body> parser;
    parser.eager(true);
    parser.header_limit(ReplyHeadParser::kMaxSize);
    parser.body_limit(boost::none);
    boost::system::error_code error;
    std::size_t used = 0;
    while (used < wire.size() && !parser.is_done()) {
        used += parser.put(boost::asio::buffer(wire.data() + used, wire.size() - used), error);
        if (error) {
            return {};  // refusing more than we do is Beast's right
        }
    }
    if (parser.get().result_int() < 200) {
        return {};  // an interim reply is where Beast stops
    }
    if (!parser.is_done()) {
        parser.put_eof(error);
        if (error) {
            return "Beast takes the reply for a part of one";
        }
    }
    if (static_cast<int>(parser.get().result_int()) != ours.head.http.status) {
        return "Beast reads another status";
    }
    if (parser.get().body() != ours.body) {
        return "Beast reads another body";
    }
    return {};
}

}  // namespace

std::string reply_complaint(std::string_view bytes) {
    if (bytes.size() < 2) {
        return {};
    }
    const std::size_t piece = static_cast<unsigned char>(bytes[0]) + std::size_t{1};
    const std::size_t limit = static_cast<unsigned char>(bytes[1]) * std::size_t{64} + 1;
    bytes.remove_prefix(2);
    const Understood whole = understand(bytes, bytes.size() + 1, kMaxReply * 2);
    if (!whole.complaint.empty()) {
        return whole.complaint;
    }
    const Understood pieces = understand(bytes, piece, limit);
    if (!pieces.complaint.empty()) {
        return pieces.complaint;
    }
    if (!(whole == pieces)) {
        return "the reply means something else when it comes in pieces";
    }
    return whole.good ? compare_with_beast(bytes, whole) : std::string();
}

}  // namespace weir::test
