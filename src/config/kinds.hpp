// The kinds of value that a key can have: how each is read, judged and printed.
#pragma once

#include "config/config.hpp"
#include "config/names.hpp"
#include "config/reading.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::config {

template <class V>
struct Kind {
    std::string type;  // for the documentation
    std::function<std::optional<V>(Reading&, const Path&, const Node&)> read;
    std::function<std::string(const V&)> print;  // a default, for the documentation
};

// A kind that is one scalar. `parse` sees the text after `${...}` is replaced; where it returns
// nothing, `must` is the problem.
template <class V>
Kind<V> scalar(std::string type, std::string must, Exposure exposure,
               std::function<std::optional<V>(std::string_view)> parse,
               std::function<std::string(const V&)> print) {
    auto read = [must = std::move(must), exposure, parse = std::move(parse)](
                    Reading& reading, const Path& path, const Node& node) -> std::optional<V> {
        const auto text = reading.text(path, node, exposure);
        if (!text) {
            return std::nullopt;
        }
        std::optional<V> value = parse(text->value);
        if (!value) {
            reading.problem(path, must);
        }
        return value;
    };
    return {std::move(type), std::move(read), std::move(print)};
}

// Whole numbers within bounds, both included.
template <class V>
Kind<V> number(std::uint64_t least, std::uint64_t most);

extern template Kind<unsigned> number<unsigned>(std::uint64_t, std::uint64_t);
extern template Kind<std::uint64_t> number<std::uint64_t>(std::uint64_t, std::uint64_t);

enum class Zero { allowed, refused };

Kind<Duration> duration(Zero zero = Zero::refused);
Kind<std::optional<Duration>> duration_or_auto();
Kind<std::optional<Duration>> learned_duration();  // without a value, the daemon finds out
Kind<std::size_t> size(std::size_t least, std::size_t most);
Kind<double> weight();
Kind<double> share();  // 0 to 1
Kind<double> rate();   // per second; 0: not limited
Kind<std::optional<std::uint64_t>> burst();
Kind<std::size_t> array_size();  // of calls; without a value, the profile's, or learned
Kind<bool> boolean();

// A name that may be left out; the place decides its default.
Kind<std::string> name(bool (*judge)(std::string_view), std::string default_text, std::string must);
Kind<std::string> file_path();
Kind<std::string> host_name();
Kind<Secret> token();
Kind<std::vector<Secret>> tokens();
Kind<Family> family();
Kind<Hedge> hedge();
Kind<History> history();
Kind<std::string> block_hash();
Kind<LogLevel> log_level();
Kind<LogFormat> log_format();
Kind<Endpoint> endpoint();
Kind<std::vector<Endpoint>> endpoints();  // one or a list
Kind<std::vector<std::string>> host_names();
Kind<std::vector<std::string>> origins();
Kind<std::vector<std::string>> networks();
Kind<std::vector<std::string>> method_patterns();
Kind<std::vector<std::pair<std::string, Secret>>> headers();
Kind<Url> url();

std::string_view to_text(LogLevel level);
std::string_view to_text(LogFormat format);

// A URL as a key or flag gives it: judged, its secrets collected.
std::optional<Url> read_url(Reading& reading, const Path& path, const Text& text);

}  // namespace weir::config
