#include "proxy/gateway_error.hpp"

#include "jsonrpc/write.hpp"

#include <array>

namespace weir::proxy {
namespace {

// In the order of ErrorType. The codes are chosen for clients: viem retries -32005 and -32603.
constexpr std::array<ErrorTraits, kErrorTypes> kTable{{
    {"parse_error", 400, -32700},
    {"invalid_request", 400, -32600},
    {"body_too_large", 413, -32600},
    {"method_denied", 200, -32601},
    {"unauthorized", 401, -32600},
    {"rate_limited", 429, -32005},
    {"quota_exhausted", 402, -32002},
    {"no_upstream", 503, -32603},
    {"filter_not_found", 200, -32000},
    {"deadline", 504, -32603},
    {"bad_upstream_reply", 502, -32603},
    {"broadcast_unknown", 200, -32050},
    {"snapshot_unavailable", 200, -32051},
    {"overloaded", 503, -32603},
    {"forbidden_host", 403, -32600},
    {"forbidden_origin", 403, -32600},
    {"not_found", 404, -32600},
    {"http_method", 405, -32600},
    {"media_type", 415, -32600},
    {"http_error", 400, -32600},
}};

}  // namespace

const ErrorTraits& traits_of(ErrorType type) { return kTable[static_cast<std::size_t>(type)]; }

int http_status_of(const GatewayError& error) {
    return error.http_status != 0 ? error.http_status : traits_of(error.type).http_status;
}

void append_error_reply(std::string& out, std::string_view id, const GatewayError& error) {
    const ErrorTraits& traits = traits_of(error.type);
    std::string data = "{\"type\":\"";
    data += traits.name;
    data += '"';
    if (!error.extra_data.empty()) {
        data += ',';
        data += error.extra_data;
    }
    data += '}';
    jsonrpc::append_error(out, id, traits.code, error.message, data);
}

}  // namespace weir::proxy
