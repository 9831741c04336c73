#include "support/request_oracle.hpp"

#include "server/access_rules.hpp"
#include "server/chunked_body.hpp"
#include "server/request_head.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace weir::test {
namespace {

using server::ChunkedBody;
using server::HeadScanner;

constexpr std::size_t kMaxHeader = 16 * 1024;
constexpr std::size_t kMaxBody = 64 * 1024;

struct Head {
    HeadScanner::State state = HeadScanner::State::more;
    std::size_t begin = 0;
    std::size_t end = 0;
};

Head scan(std::string_view bytes, std::size_t step) {
    HeadScanner scanner(kMaxHeader);
    Head head;
    for (std::size_t end = std::min(step, bytes.size());;
         end = std::min(end + step, bytes.size())) {
        head.state = scanner.advance(bytes.substr(0, end));
        if (head.state != HeadScanner::State::more || end == bytes.size()) {
            break;
        }
    }
    head.begin = scanner.begin();
    head.end = scanner.end();
    return head;
}

struct Body {
    ChunkedBody::State state = ChunkedBody::State::more;
    std::string decoded;
    std::size_t used = 0;
    bool sound = true;
    friend bool operator==(const Body&, const Body&) = default;
};

Body decode(std::string raw, std::size_t step) {
    ChunkedBody decoder(kMaxBody);
    Body body;
    while (body.used < raw.size() && body.state == ChunkedBody::State::more) {
        const std::size_t size = std::min(step, raw.size() - body.used);
        char* const from = raw.data() + body.used;
        body.state = decoder.feed(from, size, from);
        body.sound =
            body.sound && decoder.consumed() <= size && decoder.produced() <= decoder.consumed();
        body.decoded.append(from, decoder.produced());
        body.used += decoder.consumed();
    }
    body.sound = body.sound && body.decoded.size() <= kMaxBody;
    return body;
}

std::string head_complaint(std::string_view bytes, std::size_t step) {
    const Head whole = scan(bytes, bytes.size());
    const Head pieces = scan(bytes, step);
    if (whole.state != pieces.state) {
        return "the head ends otherwise when it is split";
    }
    if (whole.state != HeadScanner::State::complete) {
        return {};
    }
    if (whole.begin != pieces.begin || whole.end != pieces.end) {
        return "the head ends elsewhere when it is split";
    }
    if (whole.end > bytes.size() || whole.end - whole.begin > kMaxHeader) {
        return "the head is longer than allowed";
    }
    server::RequestHead head;
    const std::string_view text = bytes.substr(whole.begin, whole.end - whole.begin);
    if (parse_head(text, head)) {
        return {};
    }
    if (text.find("\r\n\r\n") != text.size() - 4) {
        return "the head holds another end";
    }
    const bool good_host = head.host ? server::parse_authority(*head.host).has_value()
                                     : head.version == server::Version::http10;
    return good_host ? std::string() : "a bad Host was accepted";
}

}  // namespace

std::string request_complaint(std::string_view input) {
    if (input.size() < 2) {
        return {};
    }
    const auto control = static_cast<unsigned char>(input.front());
    const std::size_t step = 1 + control % 64;
    const std::string_view bytes = input.substr(1);
    const std::string complaint = head_complaint(bytes, step);
    if (!complaint.empty()) {
        return complaint;
    }
    const Body whole = decode(std::string(bytes), bytes.size());
    if (!whole.sound || whole != decode(std::string(bytes), step)) {
        return "a chunked body is decoded otherwise when it is split";
    }
    const server::AccessRules rules({"node.example"}, {"https://app.example"});
    const auto reach = (control & 1U) != 0 ? server::Reach::loopback : server::Reach::network;
    static_cast<void>(rules.serves_host(bytes, reach));
    static_cast<void>(rules.judge_origin(bytes, reach));
    return {};
}

}  // namespace weir::test
