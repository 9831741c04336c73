#include "server/chunked_body.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cstring>

namespace weir::server {
namespace {

constexpr unsigned kMaxDigits = 16;
constexpr std::size_t kMaxOverhead = 16 * 1024;

// Fields that would change what the request is or who asks, were they merged into its head.
constexpr std::string_view kForbiddenTrailers[] = {"authorization",
                                                   "connection",
                                                   "content-encoding",
                                                   "content-length",
                                                   "content-range",
                                                   "content-type",
                                                   "cookie",
                                                   "expect",
                                                   "forwarded",
                                                   "host",
                                                   "keep-alive",
                                                   "max-forwards",
                                                   "origin",
                                                   "pragma",
                                                   "range",
                                                   "te",
                                                   "trailer",
                                                   "proxy-authorization",
                                                   "upgrade",
                                                   "weir-block",
                                                   "weir-optional",
                                                   "cache-control",
                                                   "transfer-encoding",
                                                   "x-forwarded-for"};

int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = core::to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_token_char(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
}

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

}  // namespace

ChunkedBody::State ChunkedBody::refuse(std::string_view message, int status) {
    const bool too_large = status == 413;
    refusal_ = {.type = too_large ? proxy::ErrorType::body_too_large : proxy::ErrorType::http_error,
                .status = status,
                .message = message};
    return State::refused;
}

ChunkedBody::State ChunkedBody::feed(char* raw, std::size_t size, char* out) {
    consumed_ = produced_ = 0;
    while (consumed_ < size) {
        if (at_ == At::data) {
            const std::size_t bytes =
                static_cast<std::size_t>(std::min<std::uint64_t>(chunk_, size - consumed_));
            std::memmove(out + produced_, raw + consumed_, bytes);
            produced_ += bytes;
            consumed_ += bytes;
            chunk_ -= bytes;
            if (chunk_ == 0) {
                at_ = At::data_cr;
            }
            continue;
        }
        const State state = take(raw[consumed_++]);
        if (state != State::more) {
            return state;
        }
    }
    return State::more;
}

ChunkedBody::State ChunkedBody::take(char c) {
    switch (at_) {
        case At::size:
            return take_size(c);
        case At::extension:
            if (c == '\r') {
                at_ = At::size_lf;
                return State::more;
            }
            if (is_control(c)) {
                return refuse("a chunk extension is malformed");
            }
            return ++overhead_ > kMaxOverhead ? refuse("the chunk extensions are too long")
                                              : State::more;
        case At::size_lf:
            return c == '\n' ? end_size_line() : refuse("a chunk's size line is malformed");
        case At::data_cr:
            at_ = At::data_lf;
            return c == '\r' ? State::more : refuse("a chunk does not end where its size says");
        case At::data_lf:
            at_ = At::size;
            return c == '\n' ? State::more : refuse("a chunk does not end where its size says");
        case At::trailer_start:
            if (c == '\r') {
                at_ = At::last_lf;
                return State::more;
            }
            name_size_ = 0;
            at_ = At::trailer_name;
            return c == ':' ? refuse("a trailer is malformed") : take_trailer_name(c);
        case At::trailer_name:
            return take_trailer_name(c);
        case At::trailer_value:
            if (c == '\r') {
                at_ = At::trailer_lf;
                return State::more;
            }
            if (is_control(c)) {
                return refuse("a trailer is malformed");
            }
            return ++overhead_ > kMaxOverhead ? refuse("the trailers are too long", 431)
                                              : State::more;
        case At::trailer_lf:
            at_ = At::trailer_start;
            return c == '\n' ? State::more : refuse("a trailer is malformed");
        case At::last_lf:
            at_ = At::end;
            return c == '\n' ? State::complete : refuse("a trailer is malformed");
        case At::data:
        case At::end:
            break;
    }
    return refuse("the chunked body is malformed");
}

ChunkedBody::State ChunkedBody::take_size(char c) {
    const int digit = hex_digit(c);
    if (digit >= 0) {
        if (++digits_ > kMaxDigits) {
            return refuse("a chunk's size is too long");
        }
        chunk_ = chunk_ * 16 + static_cast<std::uint64_t>(digit);
        return State::more;
    }
    if (digits_ == 0 || (c != ';' && c != '\r')) {
        return refuse("a chunk's size is malformed");
    }
    at_ = c == ';' ? At::extension : At::size_lf;
    return State::more;
}

ChunkedBody::State ChunkedBody::end_size_line() {
    digits_ = 0;
    if (chunk_ == 0) {
        at_ = At::trailer_start;
        return State::more;
    }
    if (chunk_ > max_body_ - total_) {
        return refuse("the request's body is too large", 413);
    }
    total_ += static_cast<std::size_t>(chunk_);
    at_ = At::data;
    return State::more;
}

ChunkedBody::State ChunkedBody::take_trailer_name(char c) {
    if (++overhead_ > kMaxOverhead) {
        return refuse("the trailers are too long", 431);
    }
    if (c == ':') {
        const std::string_view name(name_.data(), std::min(name_size_, name_.size()));
        if (std::find(std::begin(kForbiddenTrailers), std::end(kForbiddenTrailers), name) !=
            std::end(kForbiddenTrailers)) {
            return refuse("a trailer of this name is not allowed");
        }
        at_ = At::trailer_value;
        return State::more;
    }
    if (!is_token_char(c)) {
        return refuse("a trailer is malformed");
    }
    if (name_size_ < name_.size()) {
        name_[name_size_] = core::to_lower(c);
    }
    ++name_size_;
    return State::more;
}

}  // namespace weir::server
