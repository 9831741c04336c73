#include "config/units.hpp"

#include "core/hex.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace weir::config {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

// Largest first. Durations in milliseconds, sizes in bytes.
constexpr std::array<Unit, 4> kDurationUnits = {
    {{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<Unit, 4> kSizeUnits = {
    {{"GiB", 1ULL << 30}, {"MiB", 1ULL << 20}, {"KiB", 1ULL << 10}, {"B", 1}}};

constexpr std::uint64_t kMaxMilliseconds = 365ULL * 24 * 3'600'000;
constexpr std::uint64_t kMaxBytes = 1ULL << 40;

template <std::size_t N>
std::optional<std::uint64_t> parse(std::string_view text, const std::array<Unit, N>& units,
                                   std::uint64_t limit) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = core::parse_decimal(text.substr(0, digits));
    const std::string_view name = text.substr(digits);
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
    if (!number || unit == units.end() || *number > limit / unit->factor) {
        return std::nullopt;
    }
    return *number * unit->factor;
}

template <std::size_t N>
std::string print(std::uint64_t amount, const std::array<Unit, N>& units, const Unit& zero) {
    if (amount == 0) {
        return "0" + std::string(zero.name);
    }
    const auto unit = std::find_if(units.begin(), units.end(),
                                   [&](const Unit& u) { return amount % u.factor == 0; });
    return std::to_string(amount / unit->factor) + std::string(unit->name);
}

}  // namespace

std::optional<core::Duration> parse_duration(std::string_view text) {
    const auto amount = parse(text, kDurationUnits, kMaxMilliseconds);
    if (!amount) {
        return std::nullopt;
    }
    return core::milliseconds(static_cast<std::int64_t>(*amount));
}

std::string to_text(core::Duration duration) {
    const auto amount = std::chrono::duration_cast<core::milliseconds>(duration).count();
    return print(static_cast<std::uint64_t>(amount), kDurationUnits, kDurationUnits[2]);
}

std::optional<std::size_t> parse_size(std::string_view text) {
    return parse(text, kSizeUnits, kMaxBytes);
}

std::string size_text(std::size_t bytes) { return print(bytes, kSizeUnits, kSizeUnits[3]); }

std::optional<double> parse_decimal_number(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) {
        return std::nullopt;
    }
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
        return std::nullopt;
    }
    return number;
}

std::string number_text(double number) {
    std::array<char, 400> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                            std::chars_format::fixed);
    return error == std::errc() ? std::string(buffer.data(), end) : std::string();
}

}  // namespace weir::config
