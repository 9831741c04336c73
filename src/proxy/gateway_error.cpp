#include "proxy/gateway_error.hpp"

#include <array>
#include <cstdio>

namespace weir::proxy {
namespace {

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20) {
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(byte));
            out += escape.data();
        } else {
            out += c;
        }
    }
    out += '"';
}

}  // namespace

const ErrorTraits& traits_of(ErrorType type) {
    static constexpr std::array<ErrorTraits, 20> kTraits = {{
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
    return kTraits[static_cast<std::size_t>(type)];
}

void append_error_reply(std::string& out, std::string_view id, const GatewayError& error) {
    const ErrorTraits& traits = traits_of(error.type);
    out += R"({"jsonrpc":"2.0","id":)";
    out += id.empty() ? std::string_view("null") : id;
    out += R"(,"error":{"code":)";
    out += std::to_string(traits.code);
    out += R"(,"message":)";
    append_json_string(out, error.message);
    out += R"(,"data":{"type":")";
    out += traits.name;
    out += '"';
    if (!error.extra_data.empty()) {
        out += ',';
        out += error.extra_data;
    }
    out += "}}}";
}

}  // namespace weir::proxy
