// Loads any bytes as a configuration: no crash, no hang, and no message that holds a value.
#include "config/describe.hpp"
#include "config/load.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kCanary = "c4n4ry~0123456789abcdef";

std::optional<std::string> variable(std::string_view name) {
    return name == "A" ? std::optional<std::string>(kCanary) : std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    const auto loaded = weir::config::load(text, variable);
    if (loaded) {
        if (weir::config::describe(*loaded).empty()) {
            std::abort();
        }
        return 0;
    }
    for (const weir::config::Problem& problem : loaded.error()) {
        if (to_string(problem).find(kCanary) != std::string::npos) {
            std::abort();
        }
    }
    return 0;
}
