// `${NAME}` and `${NAME:-default}` in a scalar, replaced from the environment.
#pragma once

#include "core/result.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

// A variable's value; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

// The environment of this process.
Environment process_environment();

// A scalar after replacement, and the values that were put in: these are secret.
struct Text {
    std::string value;
    std::vector<std::string> pieces;
};

// `$${` is a literal `${`; a default is taken where the variable is unset or empty, as shells do,
// and reaches to the next `}`. Values are not expanded again. The errors, all of them, name
// variables but hold no value.
core::Result<Text, std::vector<std::string>> expand(std::string_view raw, const Environment& env);

}  // namespace weir::config
