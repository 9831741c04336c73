// HMAC with SHA-256 (RFC 2104, FIPS 180-4).
#pragma once

#include "core/keccak.hpp"

#include <string_view>

namespace weir::core {

Hash256 hmac_sha256(std::string_view key, std::string_view bytes);

}  // namespace weir::core
