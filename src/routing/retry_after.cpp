#include "routing/retry_after.hpp"

#include "core/text.hpp"
#include "jsonrpc/value.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace weir::routing {
namespace {

using std::chrono::duration_cast;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A wait in seconds, clamped; nothing for what is no wait at all.
std::optional<core::Duration> clamp_wait(double seconds) {
    if (!(seconds > 0)) {
        return std::nullopt;
    }
    const double most = std::chrono::duration<double>(kMaxWait).count();
    return duration_cast<core::Duration>(std::chrono::duration<double>(std::min(seconds, most)));
}

// Digits with at most one dot, as far as they go; 15 digits are enough for any wait.
struct Number {
    double value = 0;
    std::size_t length = 0;  // 0: none
};
Number read_number(std::string_view text) {
    Number number;
    double scale = 0;
    for (const char c : text) {
        if (is_digit(c)) {
            if (number.value < 1e15) {
                number.value = number.value * 10 + (c - '0');
                scale *= 10;
            }
        } else if (c == '.' && scale == 0 && number.length != 0) {
            scale = 1;
        } else {
            break;
        }
        ++number.length;
    }
    if (scale > 1) {
        number.value /= scale;
    }
    return number;
}

std::optional<int> two_digits(std::string_view text) {
    if (text.size() < 2 || !is_digit(text[0]) || !is_digit(text[1])) {
        return std::nullopt;
    }
    return (text[0] - '0') * 10 + (text[1] - '0');
}

struct Unit {
    std::string_view name;
    double seconds;
};
// Longer names first, where one begins another.
constexpr Unit kUnits[] = {{"milliseconds", 1e-3},
                           {"millisecond", 1e-3},
                           {"ms", 1e-3},
                           {"minutes", 60},
                           {"minute", 60},
                           {"min", 60},
                           {"hours", 3600},
                           {"hour", 3600},
                           {"seconds", 1},
                           {"second", 1},
                           {"secs", 1},
                           {"sec", 1},
                           {"s", 1},
                           {"m", 60},
                           {"h", 3600}};

// A duration as Go or people write it: `5m30s`, `60 seconds`, `1.5s`, `7` (seconds).
std::optional<core::Duration> read_duration(std::string_view text) {
    double total = 0;
    bool any = false;
    for (;;) {
        const Number number = read_number(text);
        if (number.length == 0) {
            break;
        }
        text.remove_prefix(number.length);
        std::string_view rest = text;
        while (!rest.empty() && rest.front() == ' ') {
            rest.remove_prefix(1);
        }
        const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) {
            return rest.substr(0, u.name.size()) == u.name;
        });
        any = true;
        if (unit == std::end(kUnits)) {
            total += number.value;
            break;
        }
        total += number.value * unit->seconds;
        text = rest.substr(unit->name.size());
    }
    return any ? clamp_wait(total) : std::nullopt;
}

// A JSON number, or a string that holds a duration.
std::optional<core::Duration> wait_in_value(std::string_view value) {
    if (value.empty()) {
        return std::nullopt;
    }
    if (const auto text = jsonrpc::plain_string(value)) {
        return read_duration(*text);
    }
    if (!is_digit(value.front())) {
        return std::nullopt;
    }
    return clamp_wait(read_number(value).value);
}

}  // namespace

std::optional<std::int64_t> parse_http_date(std::string_view text) {
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (text.size() != 29 || text.substr(3, 2) != ", " || text[7] != ' ' || text[11] != ' ' ||
        text[16] != ' ' || text[19] != ':' || text[22] != ':' || text.substr(25) != " GMT") {
        return std::nullopt;
    }
    const auto day = two_digits(text.substr(5));
    const auto month = kMonths.find(text.substr(8, 3));
    const auto century = two_digits(text.substr(12));
    const auto year = two_digits(text.substr(14));
    const auto hour = two_digits(text.substr(17));
    const auto minute = two_digits(text.substr(20));
    const auto second = two_digits(text.substr(23));
    if (!day || month == std::string_view::npos || month % 3 != 0 || !century || !year || !hour ||
        !minute || !second || *hour > 23 || *minute > 59 || *second > 60) {
        return std::nullopt;
    }
    using namespace std::chrono;
    const year_month_day date = std::chrono::year(*century * 100 + *year) /
                                std::chrono::month(static_cast<unsigned>(month / 3 + 1)) /
                                std::chrono::day(static_cast<unsigned>(*day));
    if (!date.ok()) {
        return std::nullopt;
    }
    const auto days = sys_days(date).time_since_epoch();
    return duration_cast<std::chrono::seconds>(days).count() + *hour * 3600 + *minute * 60 +
           *second;
}

std::optional<core::Duration> parse_retry_after(std::string_view value, std::string_view date) {
    value = core::trim(value);
    if (value.empty()) {
        return std::nullopt;
    }
    if (std::all_of(value.begin(), value.end(), is_digit)) {
        return clamp_wait(read_number(value).value);
    }
    const auto until = parse_http_date(value);
    const auto since = parse_http_date(core::trim(date));
    if (!until || !since) {
        return std::nullopt;
    }
    return clamp_wait(static_cast<double>(*until - *since));
}

std::optional<core::Duration> wait_in_text(std::string_view lower_case_text) {
    constexpr std::array<std::string_view, 6> kPhrases = {
        "retry in ", "again in ", "reset in ", "resets in ", "retry after ", "again after "};
    for (const std::string_view phrase : kPhrases) {
        const auto at = lower_case_text.find(phrase);
        if (at != std::string_view::npos) {
            if (const auto wait = read_duration(lower_case_text.substr(at + phrase.size()))) {
                return wait;
            }
        }
    }
    return std::nullopt;
}

std::optional<core::Duration> wait_in_error(const jsonrpc::ErrorObject& error) {
    if (jsonrpc::is_object(error.data)) {
        const std::string_view rate = jsonrpc::member(error.data, "rate");
        for (const std::string_view holder : {rate, error.data}) {
            if (!jsonrpc::is_object(holder)) {
                continue;
            }
            for (const std::string_view name :
                 {"backoff_seconds", "try_again_in", "retry_after", "retryAfter"}) {
                if (const auto wait = wait_in_value(jsonrpc::member(holder, name))) {
                    return wait;
                }
            }
        }
    }
    return wait_in_text(core::to_lower(error.message));
}

}  // namespace weir::routing
