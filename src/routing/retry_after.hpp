// How long a provider asks to be left alone.
#pragma once

#include "core/time.hpp"
#include "routing/complaint.hpp"
#include "routing/verdict.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

// A longer wait is absurd, and as good as none: no provider's limit outlasts its day. How long one
// is kept to within that is the configuration's matter.
constexpr core::Duration kMaxWait = std::chrono::hours(24);

// A `Retry-After` field (RFC 9110, 10.2.3): whole seconds, or an HTTP-date, which is read against
// the reply's own `date` so that neither clock matters, or without one against `clock`. Nothing for
// a value that is zero, past, negative, unreadable, longer than kMaxWait, or beyond the clock's
// reach.
std::optional<core::Duration> parse_retry_after(std::string_view value, std::string_view date,
                                                const std::optional<OwnClock>& clock = {});

// Seconds since 1970 of an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`; nothing for another form.
std::optional<std::int64_t> parse_http_date(std::string_view text);

// A wait in a phrase such as "retry in 5m30s", "try again in 4ms", "reset in 60 seconds"; nothing
// where a word follows the number that is no unit.
std::optional<core::Duration> wait_in_text(std::string_view lower_case_text);

// A number of `unit` seconds, a duration in a string, an RFC 3339 time or an epoch (against `date`,
// or `clock`); raw JSON.
std::optional<core::Duration> wait_in_value(std::string_view value, std::string_view date,
                                            const std::optional<OwnClock>& clock = {},
                                            double unit = 1);

// One place where a provider writes its wait.
struct WaitSource {
    enum class Kind : std::uint8_t { retry_after, limit_header, member, text } kind;
    std::string name;  // the header's in small letters, or the member's in letters alone
    double unit = 1;   // of a number, in seconds
};
WaitSource wait_source(std::string_view name);  // as a profile spells it

// The first wait that can be read, in the order of `sources`. A reset that is an epoch is read
// against the reply's own `date`, or else the gateway's clock.
std::optional<core::Duration> find_wait(const std::vector<WaitSource>& sources,
                                        const HttpHead& head, const Complaint& complaint);

}  // namespace weir::routing
