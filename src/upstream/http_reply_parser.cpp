#include "upstream/http_reply_parser.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::upstream {
namespace {

constexpr std::string_view kVersion = "HTTP/1.";

constexpr std::array<bool, 256> make_token_table() {
    std::array<bool, 256> table{};
    for (unsigned char c = '0'; c <= '9'; ++c) {
        table[c] = true;
    }
    for (unsigned char c = 'a'; c <= 'z'; ++c) {
        table[c] = true;
        table[static_cast<unsigned char>(c - 'a' + 'A')] = true;
    }
    for (const char c : std::string_view("!#$%&'*+-.^_`|~")) {
        table[static_cast<unsigned char>(c)] = true;
    }
    return table;
}

constexpr std::array<bool, 256> kToken = make_token_table();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Calls `visit` with each trimmed, non-empty element of a comma-separated list.
template <class Visit>
void for_each_element(std::string_view list, Visit visit) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view element = core::trim(list.substr(0, comma));
        if (!element.empty()) {
            visit(element);
        }
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
}

// Digits only, and no more of them than 63 bits hold for certain.
std::optional<std::uint64_t> parse_length(std::string_view digits) {
    if (digits.empty() || digits.size() > 18 ||
        !std::all_of(digits.begin(), digits.end(), is_digit)) {
        return std::nullopt;
    }
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

}  // namespace

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return kToken[static_cast<unsigned char>(c)];
    });
}

bool is_field_value(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && byte != '\t') || byte == 0x7f;
    });
}

ReplyHeadParser::Step ReplyHeadParser::bad(std::string_view problem) {
    problem_ = problem;
    return Step::bad;
}

ReplyHeadParser::Step ReplyHeadParser::parse(std::string_view bytes) {
    bytes_ = bytes;
    for (;;) {
        const std::size_t feed = bytes.find('\n', scanned_);
        if (std::min(feed, bytes.size()) >= kMaxSize) {
            return bad("the reply's header is too large");
        }
        if (feed == std::string_view::npos) {
            scanned_ = bytes.size();
            // Something that is no HTTP at all is found out before it has sent a whole line.
            const std::string_view begun = bytes.substr(line_, kVersion.size());
            if (!in_fields_ && begun != kVersion.substr(0, begun.size())) {
                return bad("the reply is not HTTP/1.1");
            }
            return Step::more;
        }
        if (feed == line_ || bytes[feed - 1] != '\r') {
            return bad("a line of the reply's header ends in a bare line feed");
        }
        const std::string_view line = bytes.substr(line_, feed - 1 - line_);
        line_ = scanned_ = feed + 1;
        Step step = Step::more;
        if (!in_fields_) {
            step = status_line(line);
        } else if (!line.empty()) {
            step = field(line);
        } else {
            step = blank_line();
        }
        if (step != Step::more) {
            return step;
        }
    }
}

ReplyHeadParser::Step ReplyHeadParser::status_line(std::string_view line) {
    // HTTP/1.x SP 3DIGIT [SP reason]; the blank before an empty reason is often left out.
    constexpr std::size_t kShortest = std::string_view("HTTP/1.1 200").size();
    if (line.size() < kShortest || !line.starts_with(kVersion) || line[8] != ' ') {
        return bad("the reply is not HTTP/1.1");
    }
    if (line[7] != '0' && line[7] != '1') {
        return bad("the reply is not HTTP/1.1");
    }
    if (!is_digit(line[9]) || !is_digit(line[10]) || !is_digit(line[11]) || line[9] == '0') {
        return bad("the reply's status line is malformed");
    }
    if (line.size() > kShortest && (line[12] != ' ' || !is_field_value(line.substr(13)))) {
        return bad("the reply's status line is malformed");
    }
    head_.http.status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
    http_1_0_ = line[7] == '0';
    in_fields_ = true;
    return Step::more;
}

ReplyHeadParser::Step ReplyHeadParser::field(std::string_view line) {
    if (++fields_ > kMaxFields) {
        return bad("the reply has too many header fields");
    }
    // A folded line begins with a blank, which is no token either.
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
        return bad("a header field of the reply is malformed");
    }
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = core::trim(line.substr(colon + 1));
    if (!is_field_value(value)) {
        return bad("a header field of the reply is malformed");
    }
    keep_limit(name, value);
    switch (name.size()) {
        case 4:
            if (core::iequals(name, "date")) {
                date_begin_ = static_cast<std::size_t>(value.data() - bytes_.data());
                date_size_ = value.size();
            }
            break;
        case 10:
            if (core::iequals(name, "connection")) {
                connection(value);
            } else if (core::iequals(name, "keep-alive")) {
                keep_alive_limit(value);
            }
            break;
        case 11:
            if (core::iequals(name, "retry-after")) {
                head_.http.retry_after = value;
            }
            break;
        case 14:
            if (core::iequals(name, "content-length")) {
                return content_length(value);
            }
            break;
        case 16:
            if (core::iequals(name, "content-encoding")) {
                return content_encoding(value);
            }
            break;
        case 17:
            if (core::iequals(name, "transfer-encoding")) {
                return transfer_encoding(value);
            }
            break;
        default:
            break;
    }
    return Step::more;
}

ReplyHeadParser::Step ReplyHeadParser::content_length(std::string_view value) {
    const std::optional<std::uint64_t> length = parse_length(value);
    if (!length) {
        return bad("the reply's Content-Length is malformed");
    }
    if (has_length_) {
        return bad("the reply has more than one Content-Length");
    }
    has_length_ = true;
    head_.length = *length;
    return Step::more;
}

ReplyHeadParser::Step ReplyHeadParser::transfer_encoding(std::string_view value) {
    if (has_chunked_ || !core::iequals(value, "chunked")) {
        return bad("the reply's Transfer-Encoding is not just `chunked`");
    }
    has_chunked_ = true;
    return Step::more;
}

ReplyHeadParser::Step ReplyHeadParser::content_encoding(std::string_view value) {
    if (value.empty() || core::iequals(value, "identity")) {
        return Step::more;
    }
    if (has_coding_) {
        return bad("the reply is encoded more than once");
    }
    has_coding_ = true;
    if (core::iequals(value, "gzip") || core::iequals(value, "x-gzip")) {
        head_.coding = Coding::gzip;
    } else if (core::iequals(value, "deflate")) {
        head_.coding = Coding::deflate;
    } else {
        return bad("the reply has a Content-Encoding that was not asked for");
    }
    return Step::more;
}

void ReplyHeadParser::connection(std::string_view value) {
    for_each_element(value, [this](std::string_view option) {
        says_close_ = says_close_ || core::iequals(option, "close");
        says_keep_alive_ = says_keep_alive_ || core::iequals(option, "keep-alive");
    });
}

void ReplyHeadParser::keep_limit(std::string_view name, std::string_view value) {
    constexpr std::size_t kMost = 8;
    constexpr std::size_t kLongest = 128;
    constexpr std::array<std::string_view, 3> kBeginnings = {"ratelimit", "x-ratelimit",
                                                             "x-rate-limit"};
    const bool unread = rate_fields_ == RateFields::of_refusals && head_.http.status < 300;
    if (unread || value.size() > kLongest || head_.http.limits.size() >= kMost) {
        return;
    }
    const bool limit =
        std::any_of(kBeginnings.begin(), kBeginnings.end(), [name](std::string_view beginning) {
            return core::iequals(name.substr(0, beginning.size()), beginning);
        });
    if (limit) {
        head_.http.limits.emplace_back(core::to_lower(name), std::string(value));
    }
}

void ReplyHeadParser::keep_alive_limit(std::string_view value) {
    static constexpr std::string_view kTimeout = "timeout=";
    for_each_element(value, [this](std::string_view parameter) {
        if (core::iequals(parameter.substr(0, kTimeout.size()), kTimeout)) {
            const std::optional<std::uint64_t> limit =
                parse_length(parameter.substr(kTimeout.size()));
            static constexpr std::uint64_t kLongest = 24 * 3600;
            if (limit) {
                head_.idle_limit = core::seconds(std::min(*limit, kLongest));
            }
        }
    });
}

ReplyHeadParser::Step ReplyHeadParser::blank_line() {
    const int status = head_.http.status;
    if (has_chunked_ && has_length_) {
        return bad("the reply has both a Content-Length and a Transfer-Encoding");
    }
    if (has_chunked_ && http_1_0_) {
        return bad("the reply has a Transfer-Encoding under HTTP/1.0");
    }
    if (status < 200) {
        if (status == 101 || has_chunked_ || (has_length_ && head_.length != 0)) {
            return bad("the reply is an interim one that nobody asked for");
        }
        head_ = ReplyHead{};
        date_size_ = fields_ = 0;
        in_fields_ = has_length_ = has_coding_ = says_close_ = says_keep_alive_ = false;
        return Step::more;
    }
    if (!head_.http.retry_after.empty() || head_.http.status >= 300) {
        head_.http.date = bytes_.substr(date_begin_, date_size_);
    }
    head_.keep_alive = !says_close_ && (!http_1_0_ || says_keep_alive_);
    if (status == 204 || status == 304) {
        // Never a body; a sender that announces one may well send it.
        head_.framing = Framing::none;
        head_.keep_alive = head_.keep_alive && !has_chunked_ && head_.length == 0;
    } else if (has_chunked_) {
        head_.framing = Framing::chunked;
    } else if (has_length_) {
        head_.framing = Framing::length;
    } else {
        head_.framing = Framing::until_close;
        head_.keep_alive = false;
    }
    return Step::done;
}

}  // namespace weir::upstream
