#include "server/request_head.hpp"

#include "core/http_text.hpp"

namespace weir::server {
namespace {

Refusal malformed(std::string_view message, int status = 400) {
    return {.type = proxy::ErrorType::http_error, .status = status, .message = message};
}

// A method comes first; a lone CR may be half of the empty line before a request.
bool may_begin(std::string_view bytes) {
    return core::is_token_char(bytes.front()) || bytes == "\r";
}

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

// Judges the end of a complete request line, so that its version gets a clear answer at once.
std::optional<Refusal> judge_version(std::string_view line) {
    constexpr std::string_view kForm = "HTTP/1.1";
    const auto blank = line.rfind(' ');
    const std::string_view version =
        blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1);
    if (version == "HTTP/1.1" || version == "HTTP/1.0") {
        return std::nullopt;
    }
    const bool well_formed = version.size() == kForm.size() && version.starts_with("HTTP/") &&
                             is_decimal(version[5]) && version[6] == '.' && is_decimal(version[7]);
    if (well_formed) {
        return malformed("only HTTP/1.1 and HTTP/1.0 are served", 505);
    }
    return malformed("the request line is not one of HTTP/1.1");
}

}  // namespace

HeadScanner::State HeadScanner::refuse(const Refusal& refusal) {
    refusal_ = refusal;
    return State::refused;
}

HeadScanner::State HeadScanner::advance(std::string_view bytes) {
    if (lines_ == 0 && begin_ == 0 && bytes.starts_with("\r\n")) {
        begin_ = line_ = scanned_ = 2;  // RFC 9112, 2.2: one empty line before a request is ignored
    }
    if (lines_ == 0 && bytes.size() > begin_ && !may_begin(bytes.substr(begin_))) {
        return refuse(malformed("this is not HTTP"));
    }
    for (;;) {
        const std::size_t end = bytes.find('\n', scanned_);
        if (end == std::string_view::npos) {
            break;
        }
        const std::string_view line = bytes.substr(line_, end - line_);
        if (line.empty() || line.back() != '\r') {
            return refuse(malformed("a line does not end in CR LF"));
        }
        line_ = scanned_ = end + 1;
        if (line_ - begin_ > max_header_) {
            return judge_unfinished(line_);
        }
        const State state = take_line(line.substr(0, line.size() - 1));
        if (state != State::more) {
            return state;
        }
    }
    scanned_ = bytes.size();
    return judge_unfinished(bytes.size());
}

HeadScanner::State HeadScanner::judge_unfinished(std::size_t size) {
    if (lines_ == 0 && size - begin_ > kMaxRequestLine + 1) {  // its CR may be here
        return refuse(malformed("the request line is too long", 414));
    }
    if (size - begin_ > max_header_) {
        return refuse(malformed("the request's head is too large", 431));
    }
    return State::more;
}

HeadScanner::State HeadScanner::take_line(std::string_view line) {
    ++lines_;
    if (lines_ == 1) {
        if (line.size() > kMaxRequestLine) {
            return refuse(malformed("the request line is too long", 414));
        }
        const std::optional<Refusal> refusal = judge_version(line);
        return refusal ? refuse(*refusal) : State::more;
    }
    if (line.empty()) {
        return State::complete;
    }
    if (line.front() == ' ' || line.front() == '\t') {
        return refuse(malformed("a header is folded over two lines"));
    }
    if (lines_ - 1 > kMaxFields) {
        return refuse(malformed("the request has too many headers", 431));
    }
    return State::more;
}

}  // namespace weir::server
