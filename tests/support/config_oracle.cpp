#include "support/config_oracle.hpp"

#include "config/describe.hpp"
#include "config/load.hpp"

#include <optional>

namespace weir::test {
namespace {

constexpr std::string_view kCanary = "c4n4ry~0123456789abcdef";

std::optional<std::string> variable(std::string_view name) {
    return name == "A" ? std::optional<std::string>(kCanary) : std::nullopt;
}

}  // namespace

std::string config_complaint(std::string_view input) {
    const auto loaded = config::load(std::string(input), variable);
    if (loaded) {
        const std::string description = config::describe(*loaded);
        if (description.empty()) {
            return "a good configuration without a description";
        }
        return description.find(kCanary) == std::string::npos ? "" : "a description that tells";
    }
    if (loaded.error().empty()) {
        return "a bad configuration without a problem";
    }
    for (const config::Problem& problem : loaded.error()) {
        if (to_string(problem).find(kCanary) != std::string::npos) {
            return "a problem that tells: " + to_string(problem);
        }
    }
    return {};
}

}  // namespace weir::test
