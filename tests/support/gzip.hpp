// Compressed bodies for tests.
#pragma once

#include <string>
#include <string_view>

namespace weir::test {

std::string gzip(std::string_view text);
std::string zlib(std::string_view text);

}  // namespace weir::test
