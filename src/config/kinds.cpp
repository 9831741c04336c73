#include "config/kinds.hpp"

#include "config/endpoint.hpp"
#include "config/units.hpp"
#include "config/url.hpp"
#include "core/hex.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace weir::config {
namespace {

constexpr std::string_view kDurationType = "duration";
constexpr std::string_view kDurationForm = "such as 250ms, 2s, 5m or 1h";

template <class E, std::size_t N>
Kind<E> word(const std::array<std::pair<std::string_view, E>, N>& words) {
    std::string list;
    for (std::size_t i = 0; i < N; ++i) {
        list += (i == 0 ? "" : i + 1 == N ? " or " : ", ") + std::string(words[i].first);
    }
    return scalar<E>(
        list, "must be " + list, Exposure::shown,
        [words](std::string_view text) -> std::optional<E> {
            for (const auto& [name, value] : words) {
                if (name == text) {
                    return value;
                }
            }
            return std::nullopt;
        },
        [words](const E& value) {
            for (const auto& [name, candidate] : words) {
                if (candidate == value) {
                    return std::string(name);
                }
            }
            return std::string();
        });
}

constexpr std::array<std::pair<std::string_view, LogLevel>, 6> kLevels = {
    {{"trace", LogLevel::trace},
     {"debug", LogLevel::debug},
     {"info", LogLevel::info},
     {"warn", LogLevel::warn},
     {"error", LogLevel::error},
     {"off", LogLevel::off}}};

constexpr std::array<std::pair<std::string_view, LogFormat>, 2> kFormats = {
    {{"json", LogFormat::json}, {"text", LogFormat::text}}};

std::optional<Duration> positive_duration(std::string_view text) {
    const auto value = parse_duration(text);
    return value && *value > Duration::zero() ? value : std::nullopt;
}

// A list of scalars that are judged one by one; `parse` also brings each to its final form.
Kind<std::vector<std::string>> texts(
    std::string type, std::string must,
    std::function<std::optional<std::string>(std::string_view)> parse) {
    Kind<std::vector<std::string>> kind;
    kind.type = std::move(type);
    kind.read = [must = std::move(must), parse = std::move(parse)](
                    Reading& reading, const Path& path,
                    const Node& node) -> std::optional<std::vector<std::string>> {
        if (node.kind != Node::Kind::sequence) {
            reading.problem(path, "must be a list; [] is the empty one");
            return std::nullopt;
        }
        std::vector<std::string> values;
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            const Path here = path.item(i);
            const auto text = reading.text(here, *node.items[i], Exposure::hidden);
            auto value = text ? parse(text->value) : std::nullopt;
            if (value) {
                values.push_back(std::move(*value));
            } else if (text) {
                reading.problem(here, must);
            }
        }
        return values;
    };
    kind.print = [](const std::vector<std::string>& values) {
        std::string list;
        for (const std::string& value : values) {
            list += (list.empty() ? "" : ", ") + value;
        }
        return "[" + list + "]";
    };
    return kind;
}

std::optional<Endpoint> read_endpoint(Reading& reading, const Path& path, const Node& node) {
    const auto text = reading.text(path, node, Exposure::shown);
    if (!text) {
        return std::nullopt;
    }
    auto endpoint = parse_endpoint(text->value);
    if (!endpoint) {
        reading.problem(path, endpoint.error().message);
        return std::nullopt;
    }
    return std::move(*endpoint);
}

std::optional<Secret> read_header(Reading& reading, const Path& path, const Node& node) {
    const auto text = reading.text(path, node, Exposure::hidden);
    if (!text) {
        return std::nullopt;
    }
    if (!is_header_value(text->value)) {
        reading.problem(path, "must be visible ASCII characters, with blanks only between them");
        return std::nullopt;
    }
    reading.secret(text->value);
    const std::size_t blank = text->value.find(' ');
    if (blank != std::string::npos) {  // `Bearer abc`: the second word alone is secret too
        reading.secret(text->value.substr(blank + 1));
    }
    return Secret(text->value);
}

std::optional<Secret> read_token(Reading& reading, const Path& path, const Node& node) {
    const auto text = reading.text(path, node, Exposure::hidden);
    if (!text) {
        return std::nullopt;
    }
    if (!text->value.empty() && !is_token(text->value)) {
        reading.problem(path, "must be visible ASCII characters without blanks");
        return std::nullopt;
    }
    reading.secret(text->value);
    return Secret(text->value);
}

std::optional<std::string> judge_header(std::string_view name, const std::set<std::string>& seen) {
    if (!is_header_name(name)) {
        return "is not a header name";
    }
    if (is_reserved_header(name)) {
        return "is a header that the gateway writes itself";
    }
    if (seen.contains(core::to_lower(name))) {
        return "is given more than once";
    }
    return std::nullopt;
}

std::optional<std::vector<std::pair<std::string, Secret>>> read_headers(Reading& reading,
                                                                        const Path& path,
                                                                        const Node& node) {
    if (node.kind != Node::Kind::map) {
        reading.problem(path, "must be a map of header names to values");
        return std::nullopt;
    }
    std::vector<std::pair<std::string, Secret>> headers;
    std::set<std::string> seen;
    for (const auto& [name, value] : node.entries) {
        if (const auto wrong = judge_header(name, seen)) {
            reading.problem(path.key(printable_key(name, value->line)), *wrong);
            continue;
        }
        seen.insert(core::to_lower(name));
        const Path here = path.key(printable_key(name, value->line));
        if (auto secret = read_header(reading, here, *value)) {
            headers.emplace_back(name, std::move(*secret));
        }
    }
    return headers;
}

}  // namespace

template <class V>
Kind<V> number(std::uint64_t least, std::uint64_t most) {
    const std::string range = most == std::numeric_limits<std::uint64_t>::max()
                                  ? std::to_string(least) + " or more"
                                  : std::to_string(least) + " to " + std::to_string(most);
    return scalar<V>(
        "number", "must be a whole number, " + range, Exposure::shown,
        [least, most](std::string_view text) -> std::optional<V> {
            const auto value = core::parse_decimal(text);
            return value && *value >= least && *value <= most
                       ? std::optional<V>(static_cast<V>(*value))
                       : std::nullopt;
        },
        [](const V& value) { return std::to_string(value); });
}

template Kind<unsigned> number<unsigned>(std::uint64_t, std::uint64_t);
template Kind<std::uint64_t> number<std::uint64_t>(std::uint64_t, std::uint64_t);

Kind<Duration> duration(Zero zero) {
    if (zero == Zero::allowed) {
        return scalar<Duration>(
            std::string(kDurationType), "must be a duration " + std::string(kDurationForm),
            Exposure::shown, parse_duration, [](const Duration& value) { return to_text(value); });
    }
    return scalar<Duration>(
        std::string(kDurationType), "must be a duration above zero, " + std::string(kDurationForm),
        Exposure::shown, positive_duration, [](const Duration& value) { return to_text(value); });
}

Kind<std::optional<Duration>> duration_or_auto() {
    return scalar<std::optional<Duration>>(
        "auto or duration", "must be auto or a duration above zero, " + std::string(kDurationForm),
        Exposure::shown,
        [](std::string_view text) -> std::optional<std::optional<Duration>> {
            if (text == "auto") {
                return std::optional<Duration>();
            }
            const auto value = positive_duration(text);
            return value ? std::optional<std::optional<Duration>>(value) : std::nullopt;
        },
        [](const std::optional<Duration>& value) { return value ? to_text(*value) : "auto"; });
}

Kind<std::optional<Duration>> learned_duration() {
    return scalar<std::optional<Duration>>(
        std::string(kDurationType), "must be a duration above zero, " + std::string(kDurationForm),
        Exposure::shown,
        [](std::string_view text) -> std::optional<std::optional<Duration>> {
            const auto value = positive_duration(text);
            return value ? std::optional<std::optional<Duration>>(value) : std::nullopt;
        },
        [](const std::optional<Duration>& value) { return value ? to_text(*value) : "learned"; });
}

Kind<std::size_t> size(std::size_t least, std::size_t most) {
    return scalar<std::size_t>(
        "size",
        "must be a size such as 512KiB or 16MiB, " + size_text(least) + " to " + size_text(most),
        Exposure::shown,
        [least, most](std::string_view text) {
            const auto value = parse_size(text);
            return value && *value >= least && *value <= most ? value : std::nullopt;
        },
        [](const std::size_t& value) { return size_text(value); });
}

Kind<double> share() {
    return scalar<double>(
        "number", "must be a number from 0 to 1", Exposure::shown,
        [](std::string_view text) {
            const auto value = parse_decimal_number(text);
            return value && *value <= 1 ? value : std::nullopt;
        },
        [](const double& value) { return number_text(value); });
}

Kind<double> rate() {
    return scalar<double>(
        "number", "must be a number a second, 1000000000 at most; 0: not limited", Exposure::shown,
        [](std::string_view text) {
            const auto value = parse_decimal_number(text);
            return value && *value <= 1e9 ? value : std::nullopt;
        },
        [](const double& value) { return number_text(value); });
}

Kind<std::optional<std::uint64_t>> burst() {
    constexpr std::uint64_t kMost = 1'000'000'000;
    return scalar<std::optional<std::uint64_t>>(
        "number", "must be a whole number of calls, 1 to " + std::to_string(kMost), Exposure::shown,
        [](std::string_view text) -> std::optional<std::optional<std::uint64_t>> {
            const auto value = core::parse_decimal(text);
            const bool good = value && *value >= 1 && *value <= kMost;
            return good ? std::optional<std::optional<std::uint64_t>>(value) : std::nullopt;
        },
        [](const std::optional<std::uint64_t>&) { return "one second's worth"; });
}

Kind<bool> boolean() {
    return word<bool>(
        std::array<std::pair<std::string_view, bool>, 2>{{{"true", true}, {"false", false}}});
}

Kind<std::string> name(bool (*judge)(std::string_view), std::string default_text,
                       std::string must) {
    return scalar<std::string>(
        "name", std::move(must), Exposure::shown,
        [judge](std::string_view text) {
            return judge(text) ? std::optional<std::string>(text) : std::nullopt;
        },
        [default_text = std::move(default_text)](const std::string&) { return default_text; });
}

Kind<std::string> file_path() {
    return scalar<std::string>(
        "path", "must be the path of a file", Exposure::hidden,
        [](std::string_view text) {
            return text.empty() ? std::nullopt : std::optional<std::string>(text);
        },
        [](const std::string& value) { return value.empty() ? "none" : value; });
}

Kind<std::string> host_name() {
    return scalar<std::string>(
        "host", "must be a DNS name or an IP address without a port", Exposure::hidden, parse_host,
        [](const std::string& value) { return value.empty() ? "the URL's host" : value; });
}

Kind<Secret> token() {
    return {"text", read_token, [](const Secret&) { return "\"\""; }};
}

Kind<std::vector<Secret>> tokens() {
    Kind<std::vector<Secret>> kind;
    kind.type = "list of texts";
    kind.read = [](Reading& reading, const Path& path,
                   const Node& node) -> std::optional<std::vector<Secret>> {
        if (node.kind != Node::Kind::sequence || node.items.empty()) {
            reading.problem(path, "must be a list of at least one");
            return std::nullopt;
        }
        std::vector<Secret> values;
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            if (auto value = read_token(reading, path.item(i), *node.items[i])) {
                values.push_back(std::move(*value));
            }
        }
        return values;
    };
    kind.print = [](const std::vector<Secret>&) { return "[]"; };
    return kind;
}

Kind<Family> family() {
    return word<Family>(std::array<std::pair<std::string_view, Family>, 1>{{{"evm", Family::evm}}});
}

Kind<LogLevel> log_level() { return word<LogLevel>(kLevels); }

Kind<LogFormat> log_format() { return word<LogFormat>(kFormats); }

Kind<Endpoint> endpoint() {
    return {"address", read_endpoint, [](const Endpoint& value) { return value.to_string(); }};
}

Kind<std::vector<Endpoint>> endpoints() {
    Kind<std::vector<Endpoint>> kind;
    kind.type = "address or list of addresses";
    kind.read = [](Reading& reading, const Path& path,
                   const Node& node) -> std::optional<std::vector<Endpoint>> {
        std::vector<Endpoint> values;
        if (node.kind != Node::Kind::sequence) {
            auto one = read_endpoint(reading, path, node);
            return one ? std::optional<std::vector<Endpoint>>({std::move(*one)}) : std::nullopt;
        }
        if (node.items.empty()) {
            reading.problem(path, "must hold at least one address");
        }
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            if (auto one = read_endpoint(reading, path.item(i), *node.items[i])) {
                values.push_back(std::move(*one));
            }
        }
        return values;
    };
    kind.print = [](const std::vector<Endpoint>& values) { return values.front().to_string(); };
    return kind;
}

Kind<std::vector<std::string>> host_names() {
    return texts("list of hosts", "must be a DNS name or an IP address without a port", parse_host);
}

Kind<std::vector<std::string>> origins() {
    return texts("list of origins",
                 "must be an origin such as https://app.example.org, without a path, or *",
                 parse_origin);
}

Kind<std::vector<std::string>> networks() {
    return texts("list of networks",
                 "must be an IP address, or a network such as 10.0.0.0/8 without host bits",
                 parse_network);
}

Kind<std::vector<std::string>> method_patterns() {
    return texts(
        "list of patterns", "must be a method name, in which * stands for any run of characters",
        [](std::string_view text) {
            return is_method_pattern(text) ? std::optional<std::string>(text) : std::nullopt;
        });
}

Kind<std::vector<std::pair<std::string, Secret>>> headers() {
    return {"map of names to values", read_headers, [](const auto&) { return "{}"; }};
}

std::optional<Url> read_url(Reading& reading, const Path& path, const Text& text) {
    auto parsed = parse_url(text);
    if (!parsed) {
        reading.problem(path, parsed.error().message);
        return std::nullopt;
    }
    for (const std::string& secret : parsed->secrets) {
        reading.secret(secret);
    }
    return std::move(parsed->url);
}

Kind<Url> url() {
    Kind<Url> kind;
    kind.type = "URL";
    // The pieces from the environment are judged with the URL: where one is the host, it is shown.
    kind.read = [](Reading& reading, const Path& path, const Node& node) -> std::optional<Url> {
        const auto text = reading.text(path, node, Exposure::shown);
        return text ? read_url(reading, path, *text) : std::nullopt;
    };
    kind.print = [](const Url&) { return std::string(); };
    return kind;
}

std::string_view to_text(LogLevel level) {
    return std::find_if(kLevels.begin(), kLevels.end(),
                        [&](const auto& entry) { return entry.second == level; })
        ->first;
}

std::string_view to_text(LogFormat format) {
    return std::find_if(kFormats.begin(), kFormats.end(),
                        [&](const auto& entry) { return entry.second == format; })
        ->first;
}

}  // namespace weir::config
