// Requests of any bytes: the head's parser and the chunked decoder must not crash, must come to
// the same end however the bytes are split, and must never take more than one message's share.
#include "server/access_rules.hpp"
#include "server/chunked_body.hpp"
#include "server/request_head.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using weir::server::ChunkedBody;
using weir::server::HeadScanner;

constexpr std::size_t kMaxHeader = 16 * 1024;
constexpr std::size_t kMaxBody = 64 * 1024;

void require(bool condition) {
    if (!condition) {
        std::abort();
    }
}

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
    friend bool operator==(const Body&, const Body&) = default;
};

Body decode(std::string raw, std::size_t step) {
    ChunkedBody decoder(kMaxBody);
    Body body;
    while (body.used < raw.size() && body.state == ChunkedBody::State::more) {
        const std::size_t size = std::min(step, raw.size() - body.used);
        char* const from = raw.data() + body.used;
        body.state = decoder.feed(from, size, from);
        require(decoder.consumed() <= size && decoder.produced() <= decoder.consumed());
        body.decoded.append(from, decoder.produced());
        body.used += decoder.consumed();
    }
    require(body.decoded.size() <= kMaxBody);
    return body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const std::size_t step = 1 + data[0] % 64;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);

    const Head whole = scan(bytes, bytes.size());
    const Head pieces = scan(bytes, step);
    require(whole.state == pieces.state);
    if (whole.state == HeadScanner::State::complete) {
        require(whole.begin == pieces.begin && whole.end == pieces.end);
        require(whole.end <= bytes.size() && whole.end - whole.begin <= kMaxHeader);
        weir::server::RequestHead head;
        const std::string_view text = bytes.substr(whole.begin, whole.end - whole.begin);
        if (!parse_head(text, head)) {
            // The end that was found is the only one.
            require(text.find("\r\n\r\n") == text.size() - 4);
            require(!head.host || weir::server::parse_authority(*head.host));
            require(head.host || head.version == weir::server::Version::http10);
        }
    }

    require(decode(std::string(bytes), bytes.size()) == decode(std::string(bytes), step));

    const weir::server::AccessRules rules({"node.example"}, {"https://app.example"});
    const auto reach =
        (data[0] & 1) != 0 ? weir::server::Reach::loopback : weir::server::Reach::network;
    static_cast<void>(rules.serves_host(bytes, reach));
    static_cast<void>(rules.judge_origin(bytes, reach));
    return 0;
}
