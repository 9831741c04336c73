// Random numbers that nobody can guess.
#pragma once

#include <cstddef>
#include <string>

namespace weir::runtime {

// So many bytes, 256 at most, from the system's secure source, as small hex digits.
std::string secure_hex(std::size_t bytes);

}  // namespace weir::runtime
