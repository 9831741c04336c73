// Parses a complete head. RFC 9110 and RFC 9112 without what they let a recipient overlook.
#include "core/http_text.hpp"
#include "core/text.hpp"
#include "server/access_rules.hpp"
#include "server/request_head.hpp"

#include <algorithm>
#include <charconv>

namespace weir::server {
namespace {

constexpr std::size_t kMaxRequestId = 64;

Refusal malformed(std::string_view message, int status = 400) {
    return {.type = proxy::ErrorType::http_error, .status = status, .message = message};
}

constexpr std::string_view kMalformed = "the request's head is malformed";

bool is_safe_id(std::string_view id) {
    return !id.empty() && id.size() <= kMaxRequestId &&
           std::all_of(id.begin(), id.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '_' || c == '-';
           });
}

// No blanks and no controls.
bool may_be_in_target(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7f;
}

Method method_of(std::string_view name) {
    if (name == "POST") {
        return Method::post;
    }
    if (name == "GET") {
        return Method::get;
    }
    if (name == "HEAD") {
        return Method::head;
    }
    if (name == "OPTIONS") {
        return Method::options;
    }
    return name == "CONNECT" ? Method::connect : Method::other;
}

// Nothing that a header of weir's own may say.
constexpr std::string_view kTwoThings = "?";

// The headers that say something to the server.
enum class Field : std::uint8_t {
    other,
    host,
    content_length,
    transfer_encoding,
    connection,
    origin,
    content_type,
    content_encoding,
    authorization,
    expect,
    request_id,
    forwarded_for,
    private_network,
    block,
    optional_calls,
};

struct NamedField {
    std::string_view name;
    Field field;
};

constexpr NamedField kFields[] = {
    {"host", Field::host},
    {"origin", Field::origin},
    {"expect", Field::expect},
    {"connection", Field::connection},
    {"weir-block", Field::block},
    {"content-type", Field::content_type},
    {"x-request-id", Field::request_id},
    {"authorization", Field::authorization},
    {"weir-optional", Field::optional_calls},
    {"content-length", Field::content_length},
    {"x-forwarded-for", Field::forwarded_for},
    {"content-encoding", Field::content_encoding},
    {"proxy-connection", Field::connection},
    {"transfer-encoding", Field::transfer_encoding},
    {"access-control-request-private-network", Field::private_network},
};

Field field_of(std::string_view name) {
    for (const NamedField& known : kFields) {
        if (known.name.size() == name.size() && core::iequals(known.name, name)) {
            return known.field;
        }
    }
    return Field::other;
}

// Cuts the first line off. Nothing: it does not end in CR LF.
std::optional<std::string_view> cut_line(std::string_view& bytes) {
    const std::size_t feed = bytes.find('\n');
    if (feed == std::string_view::npos || feed == 0 || bytes[feed - 1] != '\r') {
        return std::nullopt;
    }
    const std::string_view line = bytes.substr(0, feed - 1);
    bytes.remove_prefix(feed + 1);
    return line;
}

bool names_other_coding(std::string_view list) {
    bool other = false;
    core::for_each_element(list, [&other](std::string_view coding) {
        other = other || !core::iequals(coding, "chunked");
    });
    return other;
}

class Parser {
  public:
    explicit Parser(RequestHead& head) : head_(head) {}

    std::optional<Refusal> parse(std::string_view bytes) {
        std::optional<std::string_view> line = cut_line(bytes);
        if (!line || !take_request_line(*line)) {
            return refusal();
        }
        for (;;) {
            line = cut_line(bytes);
            if (!line || (line->empty() && !bytes.empty())) {
                return malformed(kMalformed);
            }
            if (line->empty()) {
                return finish();
            }
            if (!take_field(*line)) {
                return refusal();
            }
        }
    }

  private:
    Refusal refusal() const { return refusal_.value_or(malformed(kMalformed)); }

    // What a member function that found a fault returns.
    bool refuse(std::string_view message) {
        refusal_ = malformed(message);
        return false;
    }

    bool once(std::optional<std::string_view>& slot, std::string_view value) {
        if (slot) {
            return refuse("a header that may stand once is repeated");
        }
        slot = value;
        return true;
    }

    // token SP target SP version
    bool take_request_line(std::string_view line) {
        const std::size_t first = line.find(' ');
        const std::size_t last = line.rfind(' ');
        if (first == last) {
            return false;
        }
        const std::string_view method = line.substr(0, first);
        const std::string_view target = line.substr(first + 1, last - first - 1);
        const std::string_view version = line.substr(last + 1);
        if (!core::is_token(method) || target.empty() ||
            !std::all_of(target.begin(), target.end(), may_be_in_target) ||
            (version != "HTTP/1.1" && version != "HTTP/1.0")) {
            return false;
        }
        head_.method = method_of(method);
        head_.version = version.back() == '1' ? Version::http11 : Version::http10;
        return take_target(target);
    }

    bool take_target(std::string_view target) {
        if (head_.method == Method::connect) {
            head_.path = target;  // authority-form; no CONNECT is ever served
            return true;
        }
        if (!target.starts_with('/') && !(target == "*" && head_.method == Method::options)) {
            const std::size_t scheme = core::iequals(target.substr(0, 7), "http://")    ? 7
                                       : core::iequals(target.substr(0, 8), "https://") ? 8
                                                                                        : 0;
            if (scheme == 0) {
                return refuse("the request target is neither a path nor a URL");
            }
            target.remove_prefix(scheme);
            const std::string_view authority = target.substr(0, target.find_first_of("/?"));
            if (!parse_authority(authority)) {
                return refuse("the request target's host is malformed");
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
        return true;
    }

    // A folded line begins with a blank, which is no token.
    bool take_field(std::string_view line) {
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) {
            return false;
        }
        const std::string_view name = line.substr(0, colon);
        const std::string_view value = core::trim(line.substr(colon + 1));
        return core::is_token(name) && core::is_field_value(value) && keep(field_of(name), value);
    }

    bool keep(Field field, std::string_view value) {
        switch (field) {
            case Field::host:
                return once(head_.host, value);
            case Field::content_length:
                return once(length_, value);
            case Field::transfer_encoding:
                return once(encoding_, value);
            case Field::connection:
                return take_connection(value);
            case Field::origin:
                return once(head_.origin, value);
            case Field::content_type:
                return once(head_.content_type, value);
            case Field::content_encoding:
                return once(content_encoding_, value);
            case Field::authorization:
                return once(authorization_, value);
            case Field::expect:
                return once(expect_, value);
            case Field::request_id:
                head_.request_id = is_safe_id(value) ? value : std::string_view();
                break;
            case Field::forwarded_for:
                head_.forwarded_for.push_back(value);
                break;
            case Field::private_network:
                head_.asks_private_network = core::iequals(value, "true");
                break;
            case Field::block:
                take_again(head_.block, value);
                break;
            case Field::optional_calls:
                take_again(head_.optional_calls, value);
                break;
            case Field::other:
                break;
        }
        return true;
    }

    // The same once more says nothing new; something else makes it unreadable.
    static void take_again(std::optional<std::string_view>& slot, std::string_view value) {
        slot = !slot || *slot == value ? value : kTwoThings;
    }

    // A list of tokens.
    bool take_connection(std::string_view value) {
        bool sound = true;
        core::for_each_element(value, [&](std::string_view option) {
            sound = sound && core::is_token(option);
            says_close_ = says_close_ || core::iequals(option, "close");
        });
        return sound;
    }

    std::optional<Refusal> finish() {
        if (auto refusal = judge_host()) {
            return refusal;
        }
        if (auto refusal = judge_framing()) {
            return refusal;
        }
        head_.keep_alive = head_.version == Version::http11 && !says_close_;
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
            const char* const end = length_->data() + length_->size();
            const auto [stop, error] = std::from_chars(length_->data(), end, head_.content_length);
            if (error != std::errc{} || stop != end) {
                return malformed("the Content-Length is not one number");
            }
            head_.framing = Framing::length;
        }
        return std::nullopt;
    }

    RequestHead& head_;
    std::optional<std::string_view> length_;
    std::optional<std::string_view> encoding_;
    std::optional<std::string_view> content_encoding_;
    std::optional<std::string_view> authorization_;
    std::optional<std::string_view> expect_;
    bool says_close_ = false;
    std::optional<Refusal> refusal_;
};

}  // namespace

std::optional<Refusal> parse_head(std::string_view bytes, RequestHead& head) {
    Parser parser(head);
    return parser.parse(bytes);
}

}  // namespace weir::server
