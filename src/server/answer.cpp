#include "server/answer.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace weir::server {
namespace {

constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kAuthenticate = "WWW-Authenticate: Bearer\r\n";

std::size_t total_size(std::span<const std::string_view> pieces) {
    std::size_t total = 0;
    for (const std::string_view piece : pieces) {
        total += piece.size();
    }
    return total;
}

void append_hex(std::string& out, std::size_t value) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
    out.append(digits.data(), end.ptr);
}

}  // namespace

Answer::Answer(ConnectionContext& context, Wire& wire)
    : context_(context), wire_(wire), finished_at_(context.worker.clock.now()) {}

void Answer::open(const RequestHead& head) {
    client().begin();
    state_ = State::nothing;
    version_ = head.version;
    persistence_ = head.keep_alive ? Persistence::keep_alive : Persistence::close;
    omit_body_ = head.method == Method::head;
    allow_origin_.clear();
    lead_.clear();
    make_request_id(head.request_id);
}

void Answer::make_request_id(std::string_view wished) {
    if (!wished.empty()) {
        request_id_size_ = std::min(wished.size(), request_id_.size());
        std::memcpy(request_id_.data(), wished.data(), request_id_size_);
        return;
    }
    constexpr std::string_view kHex = "0123456789abcdef";
    std::uint64_t bits = context_.worker.random.next();
    request_id_size_ = 16;
    for (std::size_t i = 0; i < request_id_size_; ++i, bits >>= 4) {
        request_id_[i] = kHex[bits & 15];
    }
}

AnswerHead Answer::common_head(int status) {
    finished_at_ = context_.worker.clock.now();
    if (context_.state.draining()) {
        persistence_ = Persistence::close;
    }
    AnswerHead head;
    head.status = status;
    head.persistence = persistence_;
    head.request_id = request_id();
    head.allow_origin = allow_origin_;
    if (status == 204) {
        head.framing = BodyFraming::none;
        head.content_type = {};
    }
    return head;
}

AnswerHead Answer::head_of(const proxy::ResponseHead& head) {
    AnswerHead answer = common_head(head.status);
    answer.attempts = head.attempts;
    answer.retry_after_seconds = head.retry_after_seconds;
    answer.block = head.block;
    if (head.status == 401) {
        answer.headers = kAuthenticate;
    }
    return answer;
}

// Ends every operation that sent something; a client that takes no more is cut off.
bool Answer::settle(bool sent, State success) {
    state_ = sent ? success : State::broken;
    if (!sent) {
        finished_at_ = context_.worker.clock.now();
        wire_.cut();
    }
    return sent;
}

runtime::Task<bool> Answer::send_rest_of(Wire::Outgoing out) {
    const bool sent = co_await wire_.send_rest(out, context_.settings.get()->limits.body_timeout);
    finished_at_ = context_.worker.clock.now();
    co_return sent;
}

runtime::Task<bool> Answer::reply(const Reply& reply, unsigned retry_after_seconds) {
    AnswerHead head = common_head(reply.status);
    head.content_type = reply.content_type;
    head.length = reply.body.size();
    head.headers = reply.headers;
    head.retry_after_seconds = retry_after_seconds;
    const std::string_view body = omit_body_ ? std::string_view() : reply.body;
    Wire::Outgoing out{.prefix = context_.heads.write(head, finished_at_),
                       .pieces = {&body, 1},
                       .suffix = {},
                       .sent = wire_.take_sent_ahead()};
    const Wire::Sent sent = wire_.send_now(out);
    bool whole = sent == Wire::Sent::all;
    if (sent == Wire::Sent::blocked) {
        whole = co_await send_rest_of(out);
    }
    co_return settle(whole, State::whole);
}

Answer::Sent Answer::send_now(const proxy::ResponseHead& head,
                              std::span<const std::string_view> body) {
    if (state_ != State::nothing) {
        return Sent::failed;
    }
    AnswerHead answer = head_of(head);
    answer.length = total_size(body);
    rest_ = {.prefix = context_.heads.write(answer, finished_at_),
             .pieces = body,
             .suffix = {},
             .sent = wire_.take_sent_ahead()};
    const Wire::Sent sent = wire_.send_now(rest_);
    if (sent == Wire::Sent::blocked) {
        return Sent::blocked;
    }
    return settle(sent == Wire::Sent::all, State::whole) ? Sent::all : Sent::failed;
}

runtime::Task<bool> Answer::send_rest() {
    const bool whole = co_await send_rest_of(rest_);
    co_return settle(whole, State::whole);
}

runtime::Task<bool> Answer::begin(const proxy::ResponseHead& head) {
    if (state_ != State::nothing || wire_.is_cut()) {
        finished_at_ = context_.worker.clock.now();
        co_return false;
    }
    state_ = State::streaming;
    if (version_ == Version::http10) {
        persistence_ = Persistence::close;
    }
    AnswerHead answer = head_of(head);
    answer.framing = version_ == Version::http10 ? BodyFraming::until_close : BodyFraming::chunked;
    lead_ = context_.heads.write(answer, finished_at_);
    lead_.erase(0, wire_.take_sent_ahead());
    co_return true;
}

runtime::Task<bool> Answer::write(std::span<const std::string_view> pieces) {
    const std::size_t size = total_size(pieces);
    if (state_ != State::streaming || size == 0) {
        co_return state_ == State::streaming;
    }
    Wire::Outgoing out{.prefix = {}, .pieces = pieces, .suffix = {}};
    if (version_ == Version::http11) {
        append_hex(lead_, size);
        lead_ += kLineEnd;
        out.suffix = kLineEnd;
    }
    out.prefix = lead_;
    const Wire::Sent sent = wire_.send_now(out);
    bool whole = sent == Wire::Sent::all;
    if (sent == Wire::Sent::blocked) {
        whole = co_await send_rest_of(out);
    }
    lead_.clear();
    co_return settle(whole, State::streaming);
}

runtime::Task<bool> Answer::end() {
    if (state_ != State::streaming) {
        co_return false;
    }
    if (version_ == Version::http11) {
        lead_ += kLastChunk;
    }
    Wire::Outgoing out{.prefix = lead_, .pieces = {}, .suffix = {}};
    const Wire::Sent sent = wire_.send_now(out);
    bool whole = sent == Wire::Sent::all;
    if (sent == Wire::Sent::blocked) {
        whole = co_await send_rest_of(out);
    }
    finished_at_ = context_.worker.clock.now();
    co_return settle(whole, State::whole);
}

void Answer::abort() {
    state_ = State::broken;
    finished_at_ = context_.worker.clock.now();
    wire_.cut();
}

}  // namespace weir::server
