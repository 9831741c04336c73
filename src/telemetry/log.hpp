// Structured log lines to stderr, JSON or text. A line never blocks its writer: what the sink
// cannot take is dropped and counted.
#pragma once

#include "config/config.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

namespace weir::telemetry {

// A value that is JSON already; the text format writes it as a string.
struct Json {
    std::string_view text;
};

struct Field {
    std::string_view key;
    std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool, Json> value;
};

// Where lines go: stderr unless a test says otherwise. `buffer` bytes may wait to be written.
struct LogOutput {
    int fd = 2;
    std::size_t buffer = 4 * config::kMiB;
};

// Any thread. Every secret given at construction is replaced by `***` in messages and in the
// values of string fields, in any of its encodings (see Redactor). Warnings and errors are written
// at once, other lines within 100 ms.
class Log {
  public:
    Log(const config::Log& settings, std::vector<core::Secret> secrets, LogOutput output = {});
    ~Log();  // writes what is pending, within a second
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    // New settings, and secrets beside those that it has been given before.
    void apply(const config::Log& settings, const std::vector<core::Secret>& secrets);

    bool enabled(config::LogLevel level) const;

    // Is the line of a request that went well to be written? `random` is uniform over its range.
    bool samples(std::uint64_t random) const;

    // JSON: {"time":"2026-01-31T23:59:59.123Z","level":"info","message":"...", fields...}
    // text: 2026-01-31T23:59:59.123Z info  message key=value key="two words"
    // `level` is not `off`.
    void write(config::LogLevel level, std::string_view message,
               std::initializer_list<Field> fields = {});

    // Lines that were lost because nobody took them from the descriptor.
    std::uint64_t dropped() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weir::telemetry
