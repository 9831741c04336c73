#include "upstream/chunked_decoder.hpp"

#include "upstream/http_reply_parser.hpp"

#include <algorithm>

namespace weir::upstream {
namespace {

constexpr unsigned kMaxDigits = 15;  // of a chunk's size: far beyond any limit, and no overflow

int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

}  // namespace

ChunkedDecoder::Step ChunkedDecoder::next(std::string_view& in, std::string_view& data) {
    while (!in.empty()) {
        if (state_ == State::payload) {
            const std::size_t piece = std::min<std::uint64_t>(left_, in.size());
            data = in.substr(0, piece);
            in.remove_prefix(piece);
            left_ -= piece;
            if (left_ == 0) {
                state_ = State::payload_return;
            }
            return Step::data;
        }
        const char c = in.front();
        in.remove_prefix(1);
        if (state_ == State::last_feed) {
            return c == '\n' ? Step::end : Step::bad;
        }
        const bool good = state_ < State::trailer_begin ? framing_byte(c) : trailer_byte(c);
        if (!good) {
            return Step::bad;
        }
    }
    return Step::more;
}

bool ChunkedDecoder::framing_byte(char c) {
    switch (state_) {
        case State::size_begin:
        case State::size: {
            const int value = hex_value(c);
            if (value >= 0) {
                left_ = left_ * 16 + static_cast<unsigned>(value);
                state_ = State::size;
                return ++digits_ <= kMaxDigits;
            }
            if (state_ == State::size_begin) {
                return false;
            }
            if (c == '\r') {
                state_ = State::size_feed;
                return true;
            }
            state_ = State::extension;
            return c == ';';
        }
        case State::extension:
            if (c == '\r') {
                state_ = State::size_feed;
                return true;
            }
            return ++extensions_ <= kMaxExtensions && is_field_value({&c, 1});
        case State::size_feed:
            state_ = left_ != 0 ? State::payload : State::trailer_begin;
            digits_ = 0;
            return c == '\n';
        case State::payload_return:
            state_ = State::payload_feed;
            return c == '\r';
        case State::payload_feed:
            state_ = State::size_begin;
            return c == '\n';
        default:
            return false;
    }
}

// Trailer fields are checked for their form and dropped: nothing rests on them.
bool ChunkedDecoder::trailer_byte(char c) {
    if (++trailers_ > kMaxTrailers) {
        return false;
    }
    switch (state_) {
        case State::trailer_begin:
            if (c == '\r') {
                state_ = State::last_feed;
                return true;
            }
            state_ = State::trailer_name;
            return is_token({&c, 1});
        case State::trailer_name:
            if (c == ':') {
                state_ = State::trailer_value;
                return true;
            }
            return is_token({&c, 1});
        case State::trailer_value:
            if (c == '\r') {
                state_ = State::trailer_feed;
                return true;
            }
            return is_field_value({&c, 1});
        case State::trailer_feed:
            state_ = State::trailer_begin;
            return c == '\n';
        default:
            return false;
    }
}

}  // namespace weir::upstream
