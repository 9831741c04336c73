#include "server/rpc_site.hpp"

#include "core/text.hpp"

#include <optional>
#include <utility>

namespace weir::server {
namespace {

constexpr std::string_view kAllow = "Allow: POST, OPTIONS\r\n";
constexpr std::string_view kAuthenticate = "WWW-Authenticate: Bearer\r\n";
constexpr std::string_view kPreflight =
    "Access-Control-Allow-Methods: POST\r\n"
    "Access-Control-Allow-Headers: content-type, authorization, weir-block\r\n"
    "Access-Control-Max-Age: 7200\r\n";
constexpr std::string_view kPrivateNetwork = "Access-Control-Allow-Private-Network: true\r\n";

Reply options_reply(const RequestHead& head, const OriginVerdict& origin) {
    Reply reply{.status = 204, .content_type = {}, .headers = std::string(kAllow), .body = {}};
    if (origin.kind == OriginVerdict::Kind::allowed) {
        reply.headers += kPreflight;
        if (head.asks_private_network) {
            reply.headers += kPrivateNetwork;
        }
    }
    return reply;
}

std::optional<Refusal> judge_media(const RequestHead& head) {
    using proxy::ErrorType;
    if (!head.content_encoding.empty() && !core::iequals(head.content_encoding, "identity")) {
        return Refusal{ErrorType::media_type, 415,
                       "a compressed request body is not understood; send it plain",
                       "Accept-Encoding: identity\r\n"};
    }
    const std::string_view type = head.content_type.value_or(std::string_view());
    if (type.empty() ? head.origin.has_value() : !is_json_type(type)) {
        return Refusal{ErrorType::media_type, 415, "the Content-Type must be application/json"};
    }
    return std::nullopt;
}

}  // namespace

bool is_json_type(std::string_view content_type) {
    const std::string_view type = core::trim(content_type.substr(0, content_type.find(';')));
    return core::iequals(type, "application/json") || core::iequals(type, "application/json-rpc");
}

Decision RpcSite::decide(const RequestHead& head, const OriginVerdict& origin) {
    using proxy::ErrorType;
    constexpr Refusal kWrongMethod{ErrorType::http_method, 405,
                                   "JSON-RPC requests are sent with POST", kAllow};
    if (head.method == Method::connect) {
        return kWrongMethod;
    }
    if (head.method == Method::options && head.path == "*") {
        return options_reply(head, origin);
    }
    core::Result<proxy::Route, proxy::RouteError> route =
        handler_.route({.path = head.path, .authorization = head.authorization});
    if (!route && route.error() == proxy::RouteError::no_chain) {
        return Refusal{ErrorType::not_found, 404, "no chain is served under this path"};
    }
    // Browsers ask for permission without a token.
    if (head.method == Method::options) {
        return options_reply(head, origin);
    }
    if (head.method != Method::post) {
        return kWrongMethod;
    }
    if (!route) {
        return Refusal{
            ErrorType::unauthorized, 401,
            "this gateway needs a token: as Authorization: Bearer, or as the last segment "
            "of the path",
            kAuthenticate};
    }
    if (const std::optional<Refusal> refusal = judge_media(head)) {
        return *refusal;
    }
    if (head.framing == Framing::no_body) {
        return Refusal{ErrorType::http_error, 411, "a request needs a Content-Length"};
    }
    if (head.content_length > settings_.get()->limits.max_body) {
        return Refusal{ErrorType::body_too_large, 413, "the request's body is too large"};
    }
    const auto pin = proxy::read_pin_wish(
        {.block = head.block, .optional = head.optional_calls, .query = head.query});
    if (!pin) {
        return Refusal{ErrorType::invalid_request, 400, pin.error()};
    }
    return Forward{&handler_, std::move(*route), *pin};
}

}  // namespace weir::server
