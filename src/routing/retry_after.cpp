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

// In ASCII's small letters, or beyond ASCII.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80; }

// A wait in seconds; nothing for what is no wait at all, or an absurd one.
std::optional<core::Duration> plausible_wait(double seconds) {
    const std::chrono::duration<double> span(seconds);
    if (!(seconds > 0) || span > kMaxWait) {
        return std::nullopt;
    }
    const auto wait = duration_cast<core::Duration>(span);
    return std::max(wait, core::Duration(1));  // never none at all
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
constexpr Unit kUnits[] = {{"milliseconds", 1e-3},
                           {"millisecond", 1e-3},
                           {"ms", 1e-3},
                           {"seconds", 1},
                           {"second", 1},
                           {"secs", 1},
                           {"sec", 1},
                           {"s", 1},
                           {"minutes", 60},
                           {"minute", 60},
                           {"mins", 60},
                           {"min", 60},
                           {"m", 60},
                           {"hours", 3600},
                           {"hour", 3600},
                           {"hrs", 3600},
                           {"hr", 3600},
                           {"h", 3600},
                           {"days", 86400},
                           {"day", 86400},
                           {"d", 86400}};

// `01:02:03`, in hours, minutes and seconds.
std::optional<core::Duration> read_clock_duration(std::string_view text) {
    if (text.size() < 8 || text[2] != ':' || text[5] != ':') {
        return std::nullopt;
    }
    const auto hours = two_digits(text);
    const auto minutes = two_digits(text.substr(3));
    const auto seconds = two_digits(text.substr(6));
    return hours && minutes && seconds
               ? plausible_wait(*hours * 3600.0 + *minutes * 60.0 + *seconds)
               : std::nullopt;
}

// A duration as Go or people write it: `5m30s`, `60 seconds`, `1.5s`, `7` (seconds), `01:02:03`.
// Nothing where a word stands behind a number that is no unit of these, `7 years`, nor for a date.
std::optional<core::Duration> read_duration(std::string_view text) {
    double total = 0;
    bool any = false;
    for (;;) {
        const Number number = read_number(text);
        if (number.length == 0) {
            break;
        }
        if (const auto mark = text.substr(number.length, 1); mark == ":") {
            return any ? std::nullopt : read_clock_duration(text);
        } else if (mark == "-" || mark == "/") {
            return std::nullopt;
        }
        const bool ends_sentence = text[number.length - 1] == '.';
        text.remove_prefix(number.length);
        std::string_view rest = text;
        while (!rest.empty() && rest.front() == ' ') {
            rest.remove_prefix(1);
        }
        const auto word_end = std::find_if_not(rest.begin(), rest.end(), is_letter);
        const auto word = rest.substr(0, static_cast<std::size_t>(word_end - rest.begin()));
        any = true;
        if (word.empty() || ends_sentence) {
            total += number.value;
            break;
        }
        const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                       [word](const Unit& u) { return u.name == word; });
        if (unit == std::end(kUnits)) {
            return std::nullopt;
        }
        total += number.value * unit->seconds;
        text = rest.substr(word.size());
    }
    return any ? plausible_wait(total) : std::nullopt;
}

// Seconds since 1970 of an RFC 3339 time in UTC, `2025-01-01T00:00:00Z`; fractions are cut.
std::optional<std::int64_t> parse_timestamp(std::string_view text) {
    if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] | 0x20) != 't' ||
        text[13] != ':' || text[16] != ':' ||
        ((text.back() | 0x20) != 'z' && !text.ends_with("+00:00"))) {
        return std::nullopt;
    }
    const auto century = two_digits(text);
    const auto year = two_digits(text.substr(2));
    const auto month = two_digits(text.substr(5));
    const auto day = two_digits(text.substr(8));
    const auto hour = two_digits(text.substr(11));
    const auto minute = two_digits(text.substr(14));
    const auto second = two_digits(text.substr(17));
    if (!century || !year || !month || !day || !hour || !minute || !second) {
        return std::nullopt;
    }
    using namespace std::chrono;
    const year_month_day date = std::chrono::year(*century * 100 + *year) /
                                std::chrono::month(static_cast<unsigned>(*month)) /
                                std::chrono::day(static_cast<unsigned>(*day));
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) {
        return std::nullopt;
    }
    const auto days = sys_days(date).time_since_epoch();
    return duration_cast<std::chrono::seconds>(days).count() + *hour * 3600 + *minute * 60 +
           *second;
}

constexpr double kFirstEpoch = 1e9;        // a larger reset is a time, not a delay
constexpr double kFirstMilliEpoch = 1e12;  // and a still larger one is in milliseconds

// Until a time in seconds since 1970.
std::optional<core::Duration> wait_until(double time, std::string_view date,
                                         const std::optional<OwnClock>& clock) {
    if (const auto now = parse_http_date(core::trim(date))) {
        return plausible_wait(time - static_cast<double>(*now));
    }
    if (!clock) {
        return std::nullopt;
    }
    const std::chrono::duration<double> now(clock->now.time_since_epoch());
    const auto wait = plausible_wait(time - now.count());
    return wait && *wait <= clock->reach ? wait : std::nullopt;
}

// A delay in seconds, or an epoch.
std::optional<core::Duration> delay_or_epoch(double value, std::string_view date,
                                             const std::optional<OwnClock>& clock) {
    if (value < kFirstEpoch) {
        return plausible_wait(value);
    }
    return wait_until(value >= kFirstMilliEpoch ? value / 1000 : value, date, clock);
}

// `5`, `1628696400`, `5;w=60`, `limit=10, remaining=0, reset=5`, `"default";r=0;t=5`.
std::optional<core::Duration> wait_in_limit_header(std::string_view value, std::string_view date,
                                                   const std::optional<OwnClock>& clock) {
    value = core::trim(value);
    for (const std::string_view name : {"reset=", "t="}) {
        const auto at = value.find(name);
        if (at != value.npos) {
            value = value.substr(at + name.size());
            break;
        }
    }
    const Number number = read_number(value);
    if (number.length == 0) {
        return std::nullopt;
    }
    const std::string_view unit = value.substr(number.length);
    if (!unit.empty() && is_letter(unit.front())) {
        return read_duration(value);
    }
    return delay_or_epoch(number.value, date, clock);
}

// A name as everybody spells it: `retry_after`, `retryAfter` and `Retry-After` are one.
std::string letters_of(std::string_view name) {
    std::string letters;
    for (const char c : core::to_lower(name)) {
        if (c != '_' && c != '-') {
            letters.push_back(c);
        }
    }
    return letters;
}

constexpr std::size_t kMostMembers = 32;  // of one object
constexpr std::size_t kMostItems = 4;     // of one array

// Members of one name, in an object or in those right below it: some write `rate` or `details`
// around what they say. What stands under `params` is the call's own.
class MemberSearch {
  public:
    MemberSearch(const WaitSource& source, const HttpHead& head) : source_(source), head_(head) {}

    std::optional<core::Duration> wait_in(std::string_view value, std::size_t depth) const {
        if (jsonrpc::is_array(value)) {
            return wait_in_items(value, depth);
        }
        if (!jsonrpc::is_object(value)) {
            return std::nullopt;
        }
        const auto members = jsonrpc::members(value, kMostMembers);
        for (const jsonrpc::Member& member : members) {
            if (letters_of(member.name) == source_.name) {
                if (const auto wait =
                        wait_in_value(member.value, head_.date, head_.clock, source_.unit)) {
                    return wait;
                }
            }
        }
        for (const jsonrpc::Member& member : members) {
            if (depth > 0 && member.name != "params") {
                if (const auto wait = wait_in(member.value, depth - 1)) {
                    return wait;
                }
            }
        }
        return std::nullopt;
    }

  private:
    std::optional<core::Duration> wait_in_items(std::string_view array, std::size_t depth) const {
        for (std::size_t i = 0; i < kMostItems; ++i) {
            const auto item = jsonrpc::element(array, i);
            const auto wait = jsonrpc::is_object(item) ? wait_in(item, depth) : std::nullopt;
            if (wait) {
                return wait;
            }
        }
        return std::nullopt;
    }

    const WaitSource& source_;
    const HttpHead& head_;
};

std::optional<core::Duration> wait_at(const WaitSource& source, const HttpHead& head,
                                      const Complaint& complaint) {
    switch (source.kind) {
        case WaitSource::Kind::retry_after:
            return parse_retry_after(head.retry_after, head.date, head.clock);
        case WaitSource::Kind::limit_header:
            for (const auto& [name, value] : head.limits) {
                if (name == source.name) {
                    return wait_in_limit_header(value, head.date, head.clock);
                }
            }
            return std::nullopt;
        case WaitSource::Kind::member:
            // The nearer to the error, the more it is about it.
            for (const auto place : {complaint.data, complaint.object, complaint.around}) {
                if (const auto wait = MemberSearch(source, head).wait_in(place, 1)) {
                    return wait;
                }
            }
            return std::nullopt;
        case WaitSource::Kind::text:
            for (const auto* texts : {&complaint.texts, &complaint.nested}) {
                for (const std::string& text : *texts) {
                    if (const auto wait = wait_in_text(core::to_lower(text))) {
                        return wait;
                    }
                }
            }
            return std::nullopt;
    }
    return std::nullopt;
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

std::optional<core::Duration> parse_retry_after(std::string_view value, std::string_view date,
                                                const std::optional<OwnClock>& clock) {
    value = core::trim(value);
    if (value.empty()) {
        return std::nullopt;
    }
    if (std::all_of(value.begin(), value.end(), is_digit)) {
        return plausible_wait(read_number(value).value);
    }
    const auto until = parse_http_date(value);
    return until ? wait_until(static_cast<double>(*until), date, clock) : std::nullopt;
}

std::optional<core::Duration> wait_in_value(std::string_view value, std::string_view date,
                                            const std::optional<OwnClock>& clock, double unit) {
    if (value.empty()) {
        return std::nullopt;
    }
    if (const auto text = jsonrpc::plain_string(value)) {
        if (const Number number = read_number(*text); number.length == text->size()) {
            return delay_or_epoch(number.value * unit, date, clock);
        }
        const auto until = parse_timestamp(*text);
        if (!until) {
            return read_duration(core::to_lower(*text));
        }
        return wait_until(static_cast<double>(*until), date, clock);
    }
    if (!is_digit(value.front())) {
        return std::nullopt;
    }
    return delay_or_epoch(read_number(value).value * unit, date, clock);
}

std::optional<core::Duration> wait_in_text(std::string_view lower_case_text) {
    constexpr std::array<std::string_view, 10> kPhrases = {
        "retry in ",    "again in ", "reset in ",     "resets in ",    "retry after ",
        "again after ", "wait ",     "retry-after: ", "available in ", "replenished in "};
    for (const std::string_view phrase : kPhrases) {
        auto at = lower_case_text.find(phrase);
        if (at == std::string_view::npos) {
            continue;
        }
        at += phrase.size();
        for (const std::string_view filler : {"about ", "approximately ", "at least ", "~"}) {
            if (lower_case_text.substr(at).starts_with(filler)) {
                at += filler.size();
            }
        }
        if (const auto wait = read_duration(lower_case_text.substr(at))) {
            return wait;
        }
    }
    return std::nullopt;
}

WaitSource wait_source(std::string_view name) {
    constexpr std::string_view kBody = "body.";
    if (name == "retry-after") {
        return {.kind = WaitSource::Kind::retry_after, .name = {}};
    }
    if (name == "text") {
        return {.kind = WaitSource::Kind::text, .name = {}};
    }
    if (name.starts_with(kBody)) {
        name.remove_prefix(kBody.size());
        const bool in_milliseconds = name.ends_with("_ms") || name.starts_with("ms_");
        return {.kind = WaitSource::Kind::member,
                .name = letters_of(name),
                .unit = in_milliseconds ? 1e-3 : 1};
    }
    return {.kind = WaitSource::Kind::limit_header, .name = std::string(name)};
}

std::optional<core::Duration> find_wait(const std::vector<WaitSource>& sources,
                                        const HttpHead& head, const Complaint& complaint) {
    for (const WaitSource& source : sources) {
        if (const auto wait = wait_at(source, head, complaint)) {
            return wait;
        }
    }
    return std::nullopt;
}

}  // namespace weir::routing
