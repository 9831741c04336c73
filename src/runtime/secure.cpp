#include "runtime/secure.hpp"

#include <array>
#include <cerrno>
#include <string_view>
#include <sys/random.h>
#include <system_error>

namespace weir::runtime {

std::string secure_hex(std::size_t bytes) {
    std::array<unsigned char, 256> drawn{};
    // Up to 256 bytes come whole or not at all (getrandom(2)).
    while (getrandom(drawn.data(), bytes, 0) != static_cast<ssize_t>(bytes)) {
        if (errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), "getrandom");
        }
    }
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (std::size_t i = 0; i < bytes; ++i) {
        hex += kDigits[drawn[i] >> 4];
        hex += kDigits[drawn[i] & 15];
    }
    return hex;
}

}  // namespace weir::runtime
