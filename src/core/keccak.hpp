// Keccak-256 as Ethereum uses it: the SHA-3 submission's padding, not FIPS 202's.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weir::core {

using Hash256 = std::array<std::uint8_t, 32>;

Hash256 keccak256(std::string_view bytes);

}  // namespace weir::core
