// How a simulated provider behaves: a plain value that may be exchanged while it runs.
#pragma once

#include "core/time.hpp"
#include "simulator/chain.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::simulator {

// How "slow down" is said; after real providers.
enum class ThrottleShape {
    http_429,         // 429, Retry-After in seconds, error code 429
    http_429_date,    // 429, Retry-After as an HTTP-date
    backoff_field,    // 429, -32005 with data.rate.backoff_seconds
    code_in_200,      // 200, -32005, no wait given
    wording_in_200,   // 200, -32090, id null, the wait only in the text
    cloudflare_html,  // 429, an HTML page
    cloudflare_text,  // 200, `error code: 1015`
};

struct Throttle {
    double calls_per_second = 0;  // 0: no limit
    double burst = 1;             // calls that may come at once
    ThrottleShape shape = ThrottleShape::http_429;
    core::seconds wait{2};  // what the client is told
};

// How a batch of more than `max_calls` is refused.
enum class BatchRefusal {
    object_413,    // HTTP 413, one object, -32014
    object_500,    // HTTP 500, one object, code 31
    object_200,    // HTTP 200, one object, -32010
    array_of_one,  // HTTP 200, an array of one error, -32600
    silence,       // HTTP 200, the answers to the first calls alone
};

struct BatchLimit {
    std::size_t max_calls = 0;  // 0: no limit
    BatchRefusal refusal = BatchRefusal::object_413;
};

// What is wrong with a reply.
enum class Crooked {
    none,
    wrong_id,
    string_id,  // the number echoed as a string
    no_id,
    result_and_error,
    neither,
    two_values,   // a second JSON value after the reply
    cut_json,     // valid HTTP, half the JSON
    broken_json,  // one byte in the middle is wrong
    bad_utf8,
    html,
    empty_body,
    redirect,
    gzip,
    odd_status,    // a good reply under HTTP 500
    length_short,  // Content-Length says less than there is
    length_long,   // Content-Length says more; then the connection closes
    two_lengths,
    broken_chunk,
    cut_midway,  // half the message, then the connection closes
    stall,       // half the message, then silence
    endless,     // a body without an end
};

// What goes wrong on purpose. With `methods` set it concerns only messages that hold a call of one
// of them, so that a gateway's own probes stay well.
struct Faults {
    std::vector<std::string> methods;
    unsigned fail_next = 0;  // so many messages are answered with `fail_status` and an HTML page
    int fail_status = 503;
    unsigned drop_next = 0;   // so many are read and the connection closed without a reply
    unsigned drop_every = 0;  // of this many messages the last is dropped; 0: none
    double drop_share = 0;    // 0 to 1, by the provider's seeded random numbers
    Crooked crooked = Crooked::none;
    std::optional<unsigned> crooked_next;  // so many replies are crooked; empty: all
};

enum class UnknownMethods {
    refuse,  // -32601
    echo,    // {"method":"...","params":...} with the params' bytes as they came
};

enum class Framing { length, chunked };

enum class Availability {
    up,
    down,  // connections are refused
};

struct Script {
    Availability availability = Availability::up;
    std::uint64_t chain_id = 1;
    std::uint64_t lag_blocks = 0;
    std::optional<std::uint64_t> history;  // recent blocks whose state it has; empty: all
    std::optional<Fork> fork;

    core::milliseconds latency{0};
    core::milliseconds jitter{0};                              // up to so much more
    std::map<std::string, core::milliseconds> method_latency;  // instead of `latency`

    Throttle throttle;
    BatchLimit batch;
    Faults faults;

    std::vector<std::string> missing_methods;    // -32601
    std::map<std::string, std::string> answers;  // method to result, raw JSON
    std::map<std::string, std::string> errors;   // method to error object, raw JSON
    UnknownMethods unknown = UnknownMethods::refuse;
    std::size_t logs_bytes = 1024;  // about the size of an eth_getLogs result
    Framing framing = Framing::length;
};

}  // namespace weir::simulator
