#include "upstream/request_head.hpp"

#include "core/text.hpp"
#include "upstream/http_reply_parser.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::upstream {
namespace {

constexpr std::array<std::string_view, 8> kFraming = {
    "connection", "content-length", "expect",  "keep-alive",
    "te",         "trailer",        "upgrade", "transfer-encoding"};

bool frames_the_message(std::string_view name) {
    return std::any_of(kFraming.begin(), kFraming.end(),
                       [&](std::string_view each) { return core::iequals(each, name); });
}

}  // namespace

core::Result<RequestHead> make_request_head(const config::Upstream& upstream) {
    std::vector<std::pair<std::string, std::string>> fields = {
        {"Host", upstream.url.host_header()}, {"User-Agent", "weir/" WEIR_VERSION},
        {"Content-Type", "application/json"}, {"Accept", "application/json"},
        {"Accept-Encoding", "identity"},
    };
    if (!upstream.url.authorization.empty()) {
        fields.emplace_back("Authorization", upstream.url.authorization.reveal());
    }
    for (const auto& [name, value] : upstream.headers) {
        if (!is_token(name) || !is_field_value(value.reveal())) {
            return core::Error{"a header has characters that HTTP does not allow"};
        }
        if (frames_the_message(name)) {
            return core::Error{"the header " + name + " cannot be configured"};
        }
        std::erase_if(fields, [&, &configured = name](const auto& field) {
            return core::iequals(field.first, configured);
        });
    }
    for (const auto& [name, value] : upstream.headers) {
        fields.emplace_back(name, value.reveal());
    }
    std::string head = "POST " + upstream.url.target.reveal() + " HTTP/1.1\r\n";
    for (const auto& [name, value] : fields) {
        head += name + ": " + value + "\r\n";
    }
    return RequestHead{head + "Content-Length: "};
}

}  // namespace weir::upstream
