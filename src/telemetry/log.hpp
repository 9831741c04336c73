// Structured log lines to stderr, JSON or text. A line never blocks its writer: what the sink
// cannot take is dropped and counted.
#pragma once

#include "config/config.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

namespace weir::telemetry {

struct Field {
    std::string_view key;
    std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool> value;
};

// Any thread. Every secret given at construction is replaced by `***` in what is written.
class Log {
  public:
    Log(const config::Log& settings, std::vector<core::Secret> secrets);
    ~Log();  // writes what is pending, within a bounded time
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    bool enabled(config::LogLevel level) const;

    // {"time":"2026-01-31T23:59:59.123Z","level":"info","message":"...", fields...}
    void write(config::LogLevel level, std::string_view message,
               std::initializer_list<Field> fields = {});

    std::uint64_t dropped() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weir::telemetry
