// How long a provider asks to be left alone.
#pragma once

#include "core/time.hpp"
#include "jsonrpc/reply.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::routing {

// No provider's wait is believed beyond this.
constexpr core::Duration kMaxWait = std::chrono::minutes(10);

// A `Retry-After` field (RFC 9110, 10.2.3): whole seconds, or an HTTP-date, which is read against
// the reply's own `date` so that neither clock matters. Nothing for a value that is zero, past,
// negative, unreadable, or a date without a `date`; a longer one than kMaxWait becomes kMaxWait.
std::optional<core::Duration> parse_retry_after(std::string_view value, std::string_view date);

// Seconds since 1970 of an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`; nothing for another form.
std::optional<std::int64_t> parse_http_date(std::string_view text);

// A wait within an error object: a number in one of the usual members of `data`, or a phrase of
// the message such as "retry in 5m30s", "try again in 4ms", "reset in 60 seconds".
std::optional<core::Duration> wait_in_error(const jsonrpc::ErrorObject& error);
std::optional<core::Duration> wait_in_text(std::string_view lower_case_text);

}  // namespace weir::routing
