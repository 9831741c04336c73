// Files that an operator names, read so that none of them holds the program up.
#pragma once

#include "core/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace weir::config {

enum class FileKind : std::uint8_t {
    regular,  // anything else is refused at once: a pipe or a terminal could be waited for for ever
    any,      // for a program that does nothing else yet: `--config <(...)`
};

// What the file holds, up to the first byte beyond `most`. The error is for people.
core::Result<std::string> read_file(const std::string& path, FileKind kind, std::size_t most);

// Why a regular file with something in it cannot be had under this path; empty: it can.
std::string trouble_with_file(const std::string& path);

}  // namespace weir::config
