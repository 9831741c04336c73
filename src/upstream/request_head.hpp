// The constant part of every request to one upstream.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"

#include <string>

namespace weir::upstream {

// Everything up to and with `Content-Length: `.
struct RequestHead {
    std::string bytes;
};

// Configured headers replace our own of the same
// name; those that frame the message cannot be configured.
core::Result<RequestHead> make_request_head(const config::Upstream& upstream);

}  // namespace weir::upstream
