#include "server/request_head.hpp"

#include "core/text.hpp"
#include "server/access_rules.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <algorithm>
#include <cstring>

namespace weir::server {
namespace {

namespace http = boost::beast::http;
using Text = boost::beast::string_view;

constexpr std::size_t kMaxRequestId = 64;

// Nothing that a header of weir's own may say.
constexpr std::string_view kTwoThings = "?";

Refusal malformed(std::string_view message, int status = 400) {
    return {.type = proxy::ErrorType::http_error, .status = status, .message = message};
}

bool is_token_char(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
}

// A method comes first; a lone CR may be half of the empty line before a request.
bool may_begin(std::string_view bytes) { return is_token_char(bytes.front()) || bytes == "\r"; }

bool is_safe_id(std::string_view id) {
    return !id.empty() && id.size() <= kMaxRequestId &&
           std::all_of(id.begin(), id.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '_' || c == '-';
           });
}

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

std::string_view view(Text text) { return {text.data(), text.size()}; }

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

// Beast's parser knows the grammar; what it tolerates is refused here, field by field.
class Parser final : public http::basic_parser<true> {
  public:
    explicit Parser(RequestHead& head) : head_(head) {
        body_limit(boost::none);
        header_limit(static_cast<std::uint32_t>(-1));
    }

    std::optional<Refusal> parse(std::string_view bytes) {
        boost::system::error_code error;
        const std::size_t used = put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
        if (refusal_) {
            return refusal_;
        }
        if (error || used != bytes.size() || !is_header_done()) {
            return malformed("the request's head is malformed");
        }
        return finish();
    }

  private:
    using Error = boost::system::error_code;

    void refuse(const Refusal& refusal, Error& error) {
        refusal_ = refusal;
        error = http::error::bad_field;
    }

    void once(std::optional<std::string_view>& slot, std::string_view value, Error& error) {
        if (slot) {
            refuse(malformed("a header that may stand once is repeated"), error);
            return;
        }
        slot = value;
    }

    void on_request_impl(http::verb verb, Text, Text target, int version, Error& error) override {
        error = {};
        head_.version = version == 11 ? Version::http11 : Version::http10;
        switch (verb) {
            case http::verb::post:
                head_.method = Method::post;
                break;
            case http::verb::get:
                head_.method = Method::get;
                break;
            case http::verb::head:
                head_.method = Method::head;
                break;
            case http::verb::options:
                head_.method = Method::options;
                break;
            case http::verb::connect:
                head_.method = Method::connect;
                break;
            default:
                head_.method = Method::other;
                break;
        }
        take_target(view(target), error);
    }

    void take_target(std::string_view target, Error& error) {
        if (head_.method == Method::connect) {
            head_.path = target;  // authority-form; no CONNECT is ever served
            return;
        }
        if (!target.starts_with('/') && !(target == "*" && head_.method == Method::options)) {
            const std::size_t scheme = core::iequals(target.substr(0, 7), "http://")    ? 7
                                       : core::iequals(target.substr(0, 8), "https://") ? 8
                                                                                        : 0;
            if (scheme == 0) {
                refuse(malformed("the request target is neither a path nor a URL"), error);
                return;
            }
            target.remove_prefix(scheme);
            const std::string_view authority = target.substr(0, target.find_first_of("/?"));
            if (!parse_authority(authority)) {
                refuse(malformed("the request target's host is malformed"), error);
                return;
            }
            head_.authority = authority;
            target.remove_prefix(authority.size());
        }
        const auto mark = target.find('?');
        head_.path = target.substr(0, mark);
        if (head_.path.empty()) {
            head_.path = "/";
        }
        if (mark != std::string_view::npos) {
            head_.query = target.substr(mark + 1);
        }
    }

    void on_field_impl(http::field name, Text name_text, Text value_text, Error& error) override {
        error = {};
        const std::string_view value = view(value_text);
        switch (name) {
            case http::field::host:
                once(head_.host, value, error);
                break;
            case http::field::content_length:
                once(length_, value, error);
                break;
            case http::field::transfer_encoding:
                once(encoding_, value, error);
                break;
            case http::field::origin:
                once(head_.origin, value, error);
                break;
            case http::field::content_type:
                once(head_.content_type, value, error);
                break;
            case http::field::content_encoding:
                once(content_encoding_, value, error);
                break;
            case http::field::authorization:
                once(authorization_, value, error);
                break;
            case http::field::expect:
                once(expect_, value, error);
                break;
            case http::field::unknown:
                take_unknown(view(name_text), value);
                break;
            default:
                break;
        }
    }

    void take_unknown(std::string_view name, std::string_view value) {
        if (core::iequals(name, "X-Request-Id")) {
            head_.request_id = is_safe_id(value) ? value : std::string_view();
        } else if (core::iequals(name, "X-Forwarded-For")) {
            head_.forwarded_for.push_back(value);
        } else if (core::iequals(name, "Access-Control-Request-Private-Network")) {
            head_.asks_private_network = core::iequals(value, "true");
        } else if (core::iequals(name, "Weir-Block")) {
            take_again(head_.block, value);
        } else if (core::iequals(name, "Weir-Optional")) {
            take_again(head_.optional_calls, value);
        }
    }

    // The same once more says nothing new; something else makes it unreadable.
    static void take_again(std::optional<std::string_view>& slot, std::string_view value) {
        slot = !slot || *slot == value ? value : kTwoThings;
    }

    std::optional<Refusal> finish() {
        if (auto refusal = judge_host()) {
            return refusal;
        }
        if (auto refusal = judge_framing()) {
            return refusal;
        }
        head_.keep_alive = head_.version == Version::http11 && keep_alive();
        head_.content_encoding = content_encoding_.value_or(std::string_view());
        head_.authorization = authorization_.value_or(std::string_view());
        // HTTP/1.0 knows no Expect (RFC 9110, 10.1.1).
        if (expect_ && head_.version == Version::http11) {
            if (!core::iequals(*expect_, "100-continue")) {
                return malformed("the only expectation that is met is 100-continue", 417);
            }
            head_.expects_continue = true;
        }
        return std::nullopt;
    }

    std::optional<Refusal> judge_host() const {
        if (!head_.host) {
            if (head_.version == Version::http10) {
                return std::nullopt;
            }
            return malformed("the Host header is missing");
        }
        if (!parse_authority(*head_.host)) {
            return malformed("the Host header is malformed");
        }
        return std::nullopt;
    }

    std::optional<Refusal> judge_framing() {
        if (length_ && encoding_) {
            return malformed("Content-Length and Transfer-Encoding exclude each other");
        }
        if (encoding_) {
            if (head_.version == Version::http10) {
                return malformed("HTTP/1.0 knows no Transfer-Encoding");
            }
            if (core::iequals(*encoding_, "chunked")) {
                head_.framing = Framing::chunked;
                return std::nullopt;
            }
            return malformed("the only Transfer-Encoding that is understood is chunked, once",
                             names_other_coding(*encoding_) ? 501 : 400);
        }
        if (length_) {
            // Beast has checked the range; a list, which it takes, is refused.
            const auto length = content_length();
            if (!length || !std::all_of(length_->begin(), length_->end(), is_decimal)) {
                return malformed("the Content-Length is not one number");
            }
            head_.framing = Framing::length;
            head_.content_length = *length;
        }
        return std::nullopt;
    }

    static bool names_other_coding(std::string_view list) {
        for (;;) {
            const auto comma = list.find(',');
            const std::string_view coding = core::trim(list.substr(0, comma));
            if (!coding.empty() && !core::iequals(coding, "chunked")) {
                return true;
            }
            if (comma == std::string_view::npos) {
                return false;
            }
            list.remove_prefix(comma + 1);
        }
    }

    void on_response_impl(int, Text, int, Error& error) override { error = {}; }
    void on_header_impl(Error& error) override { error = {}; }
    void on_body_init_impl(const boost::optional<std::uint64_t>&, Error& error) override {
        error = {};
    }
    std::size_t on_body_impl(Text, Error& error) override {
        error = {};
        return 0;
    }
    void on_chunk_header_impl(std::uint64_t, Text, Error& error) override { error = {}; }
    std::size_t on_chunk_body_impl(std::uint64_t, Text, Error& error) override {
        error = {};
        return 0;
    }
    void on_finish_impl(Error& error) override { error = {}; }

    RequestHead& head_;
    std::optional<std::string_view> length_;
    std::optional<std::string_view> encoding_;
    std::optional<std::string_view> content_encoding_;
    std::optional<std::string_view> authorization_;
    std::optional<std::string_view> expect_;
    std::optional<Refusal> refusal_;
};

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

std::optional<Refusal> parse_head(std::string_view bytes, RequestHead& head) {
    Parser parser(head);
    return parser.parse(bytes);
}

}  // namespace weir::server
