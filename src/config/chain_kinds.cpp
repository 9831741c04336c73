// The kinds of values that only chains and their upstreams have.
#include "config/kinds.hpp"
#include "config/units.hpp"
#include "core/hex.hpp"
#include "core/text.hpp"

#include <string>

namespace weir::config {

Kind<double> weight() {
    return scalar<double>(
        "number", "must be a number above 0, 1000000 at most", Exposure::shown,
        [](std::string_view text) {
            const auto value = parse_decimal_number(text);
            return value && *value > 0 && *value <= 1e6 ? value : std::nullopt;
        },
        [](const double& value) { return number_text(value); });
}

Kind<std::size_t> array_size() {
    constexpr std::uint64_t kMost = 1'000'000;
    return scalar<std::size_t>(
        "number", "must be a whole number, 1 to " + std::to_string(kMost), Exposure::shown,
        [](std::string_view text) -> std::optional<std::size_t> {
            const auto value = core::parse_decimal(text);
            if (!value || *value < 1 || *value > kMost) {
                return std::nullopt;
            }
            return static_cast<std::size_t>(*value);
        },
        [](const std::size_t&) { return "the profile's, then learned"; });
}

Kind<Hedge> hedge() {
    return scalar<Hedge>(
        "off, auto or duration", "must be off, auto or a duration above zero", Exposure::shown,
        [](std::string_view text) -> std::optional<Hedge> {
            if (text == "off") {
                return Hedge{};
            }
            if (text == "auto") {
                return Hedge{.kind = Hedge::Kind::automatic};
            }
            const auto delay = parse_duration(text);
            return delay && *delay > Duration::zero()
                       ? std::optional(Hedge{.kind = Hedge::Kind::after, .delay = *delay})
                       : std::nullopt;
        },
        [](const Hedge& value) {
            switch (value.kind) {
                case Hedge::Kind::off:
                    return std::string("off");
                case Hedge::Kind::automatic:
                    return std::string("auto");
                case Hedge::Kind::after:
                    break;
            }
            return to_text(value.delay);
        });
}

Kind<History> history() {
    return scalar<History>(
        "auto, archive or number",
        "must be auto, archive or the number of recent blocks whose state is kept", Exposure::shown,
        [](std::string_view text) -> std::optional<History> {
            if (text == "auto") {
                return History{};
            }
            if (text == "archive") {
                return History{.kind = History::Kind::archive};
            }
            const auto blocks = core::parse_decimal(text);
            return blocks && *blocks > 0
                       ? std::optional(History{.kind = History::Kind::blocks, .blocks = *blocks})
                       : std::nullopt;
        },
        [](const History& value) {
            switch (value.kind) {
                case History::Kind::automatic:
                    return std::string("auto");
                case History::Kind::archive:
                    return std::string("archive");
                case History::Kind::blocks:
                    break;
            }
            return std::to_string(value.blocks);
        });
}

Kind<std::string> block_hash() {
    constexpr std::size_t kHashBytes = 32;
    return scalar<std::string>(
        "block hash", "must be 0x and 64 hex digits", Exposure::shown,
        [](std::string_view text) {
            return core::is_hex_data(text, kHashBytes) ? std::optional(core::to_lower(text))
                                                       : std::nullopt;
        },
        [](const std::string& value) { return value.empty() ? "none" : value; });
}

}  // namespace weir::config
