#include "server/timestamp.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace weir::server {

std::string timestamp(core::WallTime at) {
    const auto since = std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch());
    const auto second = std::chrono::floor<std::chrono::seconds>(since);
    const std::time_t time = second.count();
    std::tm parts = {};
    gmtime_r(&time, &parts);
    char text[64];
    const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    char fraction[8];
    std::snprintf(fraction, sizeof fraction, ".%03dZ", static_cast<int>((since - second).count()));
    return std::string(text, length) + fraction;
}

}  // namespace weir::server
