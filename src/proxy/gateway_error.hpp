// The errors that the gateway itself makes: one table of names, HTTP statuses and JSON-RPC codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::proxy {

enum class ErrorType : std::uint8_t {
    parse_error,
    invalid_request,
    body_too_large,
    method_denied,
    unauthorized,
    rate_limited,
    quota_exhausted,
    no_upstream,
    filter_not_found,
    deadline,
    bad_upstream_reply,
    broadcast_unknown,
    snapshot_unavailable,
    overloaded,
    forbidden_host,
    forbidden_origin,
    not_found,
    http_method,
    media_type,
    http_error,
};
constexpr std::size_t kErrorTypes = static_cast<std::size_t>(ErrorType::http_error) + 1;

struct ErrorTraits {
    std::string_view name;  // `data.type`
    int http_status;        // of an answer that holds this error alone
    int code;               // JSON-RPC
};
const ErrorTraits& traits_of(ErrorType type);

// One error for one call. Messages are for people: what happened, to which chain, what to do next;
// never a URL, a key or an upstream's host.
struct GatewayError {
    ErrorType type = ErrorType::no_upstream;
    std::string message;
    std::string extra_data;            // further members of `data`, as `"name":value,...`
    int http_status = 0;               // 0: the table's; http_error has several
    unsigned retry_after_seconds = 0;  // 0: none
};

int http_status_of(const GatewayError& error);

// The whole JSON-RPC reply; `id` is raw bytes, empty for null.
void append_error_reply(std::string& out, std::string_view id, const GatewayError& error);

}  // namespace weir::proxy
