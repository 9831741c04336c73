#include "telemetry/log.hpp"

#include "core/published.hpp"
#include "telemetry/escape.hpp"
#include "telemetry/line_sink.hpp"
#include "telemetry/redact.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <ctime>
#include <string>
#include <utility>

namespace weir::telemetry {
namespace {

using config::LogFormat;
using config::LogLevel;

spdlog::level::level_enum to_spdlog(LogLevel level) {
    switch (level) {
        case LogLevel::trace:
            return spdlog::level::trace;
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warn:
            return spdlog::level::warn;
        case LogLevel::error:
            return spdlog::level::err;
        case LogLevel::off:
            break;
    }
    return spdlog::level::off;
}

std::string_view name_of(LogLevel level) {
    constexpr std::array<std::string_view, 6> kNames = {"trace", "debug", "info",
                                                        "warn",  "error", "off"};
    return kNames.at(static_cast<std::size_t>(level));
}

// Passes finished lines on; the line's layout is made by Log, not by a spdlog pattern.
class SinkAdapter final : public spdlog::sinks::sink {
  public:
    SinkAdapter(LogOutput output, LineSink::DropNotice notice)
        : lines_(output.fd, output.buffer, std::move(notice)) {}

    void log(const spdlog::details::log_msg& line) override {
        lines_.append({line.payload.data(), line.payload.size()}, line.level >= spdlog::level::warn
                                                                      ? LineSink::Urgency::now
                                                                      : LineSink::Urgency::relaxed);
    }
    void flush() override {}
    void set_pattern(const std::string& /*pattern*/) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

    std::uint64_t dropped() const { return lines_.dropped(); }

  private:
    LineSink lines_;
};

// RFC 3339 in UTC with milliseconds; the part up to the second is kept from line to line.
class Timestamps {
  public:
    void append(std::string& out, core::WallTime now) {
        const auto since_epoch = std::chrono::floor<core::milliseconds>(now.time_since_epoch());
        const auto second = std::chrono::floor<core::seconds>(since_epoch);
        if (second.count() != second_) {
            second_ = second.count();
            const std::time_t time = second_;
            std::tm parts = {};
            gmtime_r(&time, &parts);
            length_ = std::strftime(text_.data(), text_.size(), "%Y-%m-%dT%H:%M:%S", &parts);
        }
        const auto fraction = static_cast<unsigned>((since_epoch - second).count());
        out.append(text_.data(), length_);
        out += '.';
        out += static_cast<char>('0' + fraction / 100);
        out += static_cast<char>('0' + fraction / 10 % 10);
        out += static_cast<char>('0' + fraction % 10);
        out += 'Z';
    }

  private:
    std::int64_t second_ = -1;
    std::array<char, 64> text_{};
    std::size_t length_ = 0;
};

template <class Number>
void append_number(std::string& out, Number value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out.append(digits.data(), end.ptr);
}

// Values that are not strings; both formats write them alike.
struct AppendScalar {
    std::string& out;

    void operator()(std::string_view /*text*/) const {}
    void operator()(Json /*text*/) const {}
    void operator()(std::int64_t value) const { append_number(out, value); }
    void operator()(std::uint64_t value) const { append_number(out, value); }
    void operator()(double value) const {
        if (std::isfinite(value)) {
            append_number(out, value);
        } else {
            out += "null";  // JSON has no word for it
        }
    }
    void operator()(bool value) const { out += value ? "true" : "false"; }
};

// One line in the making. Reused by its thread, so that a line costs no allocation.
struct Draft {
    Timestamps timestamps;
    std::string line;
    std::string scratch;
};

}  // namespace

struct Log::Impl {
    Impl(const config::Log& settings, std::vector<core::Secret> known, LogOutput output)
        : format(settings.format),
          sample(settings.sample),
          secrets(std::move(known)),
          redactor(std::make_shared<const Redactor>(secrets)),
          sink(std::make_shared<SinkAdapter>(
              output, [this](std::uint64_t lost) { return drop_notice(lost); })),
          logger("weir", sink) {
        logger.set_level(to_spdlog(settings.level));
    }

    std::string drop_notice(std::uint64_t lost) const {
        Draft draft;
        compose(draft, LogLevel::warn, "log lines dropped", {{"lines", lost}});
        return draft.line;
    }

    void compose(Draft& draft, LogLevel level, std::string_view message,
                 std::initializer_list<Field> fields) const {
        draft.line.clear();
        const std::shared_ptr<const Redactor> masks = redactor.get();
        if (format.load(std::memory_order_relaxed) == LogFormat::json) {
            compose_json(draft, *masks, level, message, fields);
        } else {
            compose_text(draft, *masks, level, message, fields);
        }
        draft.line += '\n';
    }

    static void compose_json(Draft& draft, const Redactor& masks, LogLevel level,
                             std::string_view message, std::initializer_list<Field> fields) {
        std::string& line = draft.line;
        line += R"({"time":")";
        draft.timestamps.append(line, std::chrono::system_clock::now());
        line += R"(","level":")";
        line += name_of(level);
        line += R"(","message":)";
        append_json_string(line, masks.apply(message, draft.scratch));
        for (const Field& field : fields) {
            line += ',';
            append_json_string(line, field.key);
            line += ':';
            if (const auto* text = std::get_if<std::string_view>(&field.value)) {
                append_json_string(line, masks.apply(*text, draft.scratch));
            } else if (const auto* json = std::get_if<Json>(&field.value)) {
                line += masks.apply(json->text, draft.scratch);
            } else {
                std::visit(AppendScalar{line}, field.value);
            }
        }
        line += '}';
    }

    static void compose_text(Draft& draft, const Redactor& masks, LogLevel level,
                             std::string_view message, std::initializer_list<Field> fields) {
        std::string& line = draft.line;
        draft.timestamps.append(line, std::chrono::system_clock::now());
        line += ' ';
        line += name_of(level);
        line.append(6 - name_of(level).size(), ' ');
        append_escaped(line, masks.apply(message, draft.scratch));
        for (const Field& field : fields) {
            line += ' ';
            line += field.key;
            line += '=';
            if (const auto* text = std::get_if<std::string_view>(&field.value)) {
                append_text_value(line, masks.apply(*text, draft.scratch));
            } else if (const auto* json = std::get_if<Json>(&field.value)) {
                append_text_value(line, masks.apply(json->text, draft.scratch));
            } else {
                std::visit(AppendScalar{line}, field.value);
            }
        }
    }

    std::atomic<LogFormat> format;
    std::atomic<double> sample;
    std::vector<core::Secret> secrets;
    core::Published<Redactor> redactor;
    const std::shared_ptr<SinkAdapter> sink;
    spdlog::logger logger;
};

Log::Log(const config::Log& settings, std::vector<core::Secret> secrets, LogOutput output)
    : impl_(std::make_unique<Impl>(settings, std::move(secrets), output)) {}

Log::~Log() = default;

void Log::apply(const config::Log& settings, const std::vector<core::Secret>& secrets) {
    impl_->secrets.insert(impl_->secrets.end(), secrets.begin(), secrets.end());
    impl_->redactor.publish(std::make_shared<const Redactor>(impl_->secrets));
    impl_->format.store(settings.format, std::memory_order_relaxed);
    impl_->sample.store(settings.sample, std::memory_order_relaxed);
    impl_->logger.set_level(to_spdlog(settings.level));
}

bool Log::enabled(LogLevel level) const { return impl_->logger.should_log(to_spdlog(level)); }

bool Log::samples(std::uint64_t random) const {
    constexpr double kRange = 9007199254740992.0;  // 2^53
    return static_cast<double>(random >> 11U) / kRange <
           impl_->sample.load(std::memory_order_relaxed);
}

void Log::write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) {
    if (!enabled(level)) {
        return;
    }
    thread_local Draft draft;
    impl_->compose(draft, level, message, fields);
    impl_->logger.log(to_spdlog(level),
                      spdlog::string_view_t(draft.line.data(), draft.line.size()));
}

std::uint64_t Log::dropped() const { return impl_->sink->dropped(); }

}  // namespace weir::telemetry
