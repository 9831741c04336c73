// A request that the HTTP server refuses by itself.
#pragma once

#include "proxy/gateway_error.hpp"

#include <string_view>

namespace weir::server {

// Texts are literals: a refusal never quotes what the client sent.
struct Refusal {
    proxy::ErrorType type = proxy::ErrorType::http_error;
    int status = 400;
    std::string_view message;
    std::string_view headers = {};  // further header lines, each with its CRLF
};

}  // namespace weir::server
