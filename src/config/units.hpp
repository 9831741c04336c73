// Durations, sizes and numbers as a configuration writes them, and back.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::config {

// `250ms`, `2s`, `5m`, `1h`: a whole number and a unit, a year at most.
std::optional<core::Duration> parse_duration(std::string_view text);
std::string to_text(core::Duration duration);  // in the largest unit that loses nothing

// `100B`, `512KiB`, `16MiB`, `1GiB`: a whole number and a unit, 1 TiB at most.
std::optional<std::size_t> parse_size(std::string_view text);
std::string size_text(std::size_t bytes);

// A decimal number without exponent, such as `2` or `0.5`.
std::optional<double> parse_decimal_number(std::string_view text);
std::string number_text(double number);

}  // namespace weir::config
