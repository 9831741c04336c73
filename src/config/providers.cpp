#include "config/providers.hpp"

#include "config/document.hpp"
#include "config/names.hpp"
#include "config/schema.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::config {
namespace {

constexpr std::array<std::string_view, 19> kCauses = {
    "reverted",      "invalid_params",  "nonce_too_low",      "already_known",
    "underpriced",   "tx_rejected",     "rate_limited",       "quota_exhausted",
    "auth_failed",   "batch_too_large", "method_unsupported", "plan_lacks_method",
    "state_missing", "block_unknown",   "range_too_large",    "response_too_large",
    "timeout",       "bad_reply",       "server_error"};

constexpr std::size_t kMaxGaps = 2;  // in one wording: the time that a search takes
constexpr std::size_t kMaxProfiles = 200;
constexpr std::size_t kMaxRules = 500;  // of one profile

template <class V>
Kind<std::vector<V>> list(std::string must,
                          std::function<std::optional<V>(std::string_view)> parse) {
    Kind<std::vector<V>> kind;
    kind.read = [must = std::move(must), parse = std::move(parse)](
                    Reading& reading, const Path& path,
                    const Node& node) -> std::optional<std::vector<V>> {
        if (node.kind != Node::Kind::sequence || node.items.empty()) {
            reading.problem(path, "must be a list of at least one");
            return std::nullopt;
        }
        std::vector<V> values;
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            const Path here = path.item(i);
            const auto text = reading.text(here, *node.items[i], Exposure::shown);
            auto value = text ? parse(text->value) : std::nullopt;
            if (value) {
                values.push_back(std::move(*value));
            } else if (text) {
                reading.problem(here, must);
            }
        }
        return values;
    };
    kind.print = [](const std::vector<V>&) { return std::string(); };
    return kind;
}

bool is_word(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    });
}

bool is_choice_of_words(std::string_view text) {
    for (;;) {
        const std::size_t bar = text.find('|');
        if (!is_word(text.substr(0, bar))) {
            return false;
        }
        if (bar == std::string_view::npos) {
            return true;
        }
        text.remove_prefix(bar + 1);
    }
}

// Parts with one blank between them: words, `a|b`, `#`, `*`; `^` first, `$` last.
std::optional<std::string> parse_wording(std::string_view text) {
    std::size_t words = 0;
    std::size_t gaps = 0;
    std::string_view before = "^";
    for (std::string_view rest = text;;) {
        const std::size_t blank = rest.find(' ');
        const std::string_view part = rest.substr(0, blank);
        const bool last = blank == std::string_view::npos;
        if (part == "^" || part == "$") {
            if (part == "^" ? part.data() != text.data() : !last || before == "*") {
                return std::nullopt;
            }
        } else if (part == "*") {
            if (before == "^" || before == "*" || last || ++gaps > kMaxGaps) {
                return std::nullopt;
            }
        } else if (part == "#" || is_choice_of_words(part)) {
            words += part == "#" ? 0U : 1U;
        } else {
            return std::nullopt;
        }
        before = part;
        if (last) {
            break;
        }
        rest.remove_prefix(blank + 1);
    }
    return words >= 1 && words <= kMaxWordingWords ? std::optional<std::string>(text)
                                                   : std::nullopt;
}

std::optional<std::int64_t> parse_code(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

std::optional<StatusRange> parse_status(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = parse_code(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_code(text.substr(dash + 1));
    if (!first || !last || *first < 100 || *last > 999 || *first > *last) {
        return std::nullopt;
    }
    return StatusRange{static_cast<int>(*first), static_cast<int>(*last)};
}

std::optional<std::string> parse_wait(std::string_view text) {
    const bool header = is_header_name(text) && text == core::to_lower(text) &&
                        (text == "retry-after" || text.starts_with("ratelimit") ||
                         text.starts_with("x-ratelimit") || text.starts_with("x-rate-limit"));
    constexpr std::string_view kBody = "body.";
    const bool member = text.starts_with(kBody) && text.size() > kBody.size() &&
                        std::all_of(text.begin() + kBody.size(), text.end(),
                                    [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    return header || member || text == "text" ? std::optional<std::string>(text) : std::nullopt;
}

std::optional<std::string> parse_plain(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

std::optional<std::string> parse_host_pattern(std::string_view text) {
    const bool good = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '*';
    });
    return good ? std::optional<std::string>(text) : std::nullopt;
}

std::optional<std::string> parse_method_class(std::string_view text) {
    return is_method_pattern(text) ? std::optional<std::string>(text) : std::nullopt;
}

std::optional<std::string> parse_cause(std::string_view text) {
    const bool known = std::find(kCauses.begin(), kCauses.end(), text) != kCauses.end();
    return known ? std::optional<std::string>(text) : std::nullopt;
}

Kind<std::string> cause() {
    return scalar<std::string>("cause", "is not a cause that a rule can name", Exposure::shown,
                               parse_cause, [](const std::string&) { return std::string(); });
}

// A map of names to values, in file order.
template <class V>
Kind<V> entries(std::function<bool(std::string_view)> is_name, std::string must,
                std::function<bool(V&, const std::string&, std::string_view)> add) {
    Kind<V> kind;
    kind.read = [is_name = std::move(is_name), must = std::move(must), add = std::move(add)](
                    Reading& reading, const Path& path, const Node& node) -> std::optional<V> {
        if (node.kind != Node::Kind::map) {
            reading.problem(path, "must be a map of names to values");
            return std::nullopt;
        }
        V values;
        for (const auto& [name, value] : node.entries) {
            const Path here = path.key(printable_key(name, value->line));
            const auto text = reading.text(here, *value, Exposure::shown);
            if (text && (!is_name(name) || !add(values, name, text->value))) {
                reading.problem(here, must);
            }
        }
        return values;
    };
    kind.print = [](const V&) { return std::string(); };
    return kind;
}

using Costs = std::map<std::string, std::uint64_t>;
using Headers = std::vector<std::pair<std::string, std::string>>;

Kind<Costs> costs() {
    return entries<Costs>(is_method_pattern, "must be a method once and a whole number, 0 or more",
                          [](Costs& costs, const std::string& name, std::string_view text) {
                              const auto cost = parse_code(text);
                              return cost && *cost >= 0 && *cost <= 1'000'000 &&
                                     costs.emplace(name, *cost).second;
                          });
}

Kind<Headers> rule_headers() {
    return entries<Headers>(is_header_name, "must be a header and its value, or *",
                            [](Headers& headers, const std::string& name, std::string_view text) {
                                headers.emplace_back(core::to_lower(name), core::to_lower(text));
                                return true;
                            });
}

Section<ProviderRule> rule_section() {
    const std::string wording =
        "must be at most six words in small letters or digits with a blank between them; `a|b`, "
        "`#` for a number, `*` for up to six words, `^` first and `$` last have a meaning";
    return {
        field("cause", &ProviderRule::cause, cause(), Need::required),
        field("says", &ProviderRule::says, list<std::string>(wording, parse_wording)),
        field("unless", &ProviderRule::unless, list<std::string>(wording, parse_wording)),
        field("codes", &ProviderRule::codes,
              list<std::int64_t>("must be a whole number", parse_code)),
        field("status", &ProviderRule::status,
              list<StatusRange>("must be a status such as 429 or a range such as 500-599",
                                parse_status)),
        field("on", &ProviderRule::on,
              list<std::string>("must be reads, sends, logs or a method, in which * stands for any "
                                "run of characters",
                                parse_method_class)),
        field("members", &ProviderRule::members,
              list<std::string>("must be a member's name", parse_plain)),
        field("headers", &ProviderRule::headers, rule_headers()),
        field("hex_data", &ProviderRule::hex_data, boolean()),
        field("batch", &ProviderRule::batch, boolean()),
        field("pages", &ProviderRule::pages, boolean()),
    };
}

Section<ProviderProfile> profile_section() {
    return {
        field("hosts", &ProviderProfile::hosts,
              list<std::string>("must be a host in small letters, in which * stands for any run of "
                                "characters",
                                parse_host_pattern)),
        field("batch", &ProviderProfile::batch, number<std::size_t>(1, 1'000'000)),
        field("costs", &ProviderProfile::costs, costs()),
        field("waits", &ProviderProfile::waits,
              list<std::string>(
                  "must be retry-after, a header that begins with ratelimit, x-ratelimit "
                  "or x-rate-limit, text, or body.MEMBER in small letters and _",
                  parse_wait)),
        objects("rules", &ProviderProfile::rules, rule_section(), Need::optional),
    };
}

// Codes that say nothing by themselves: every provider uses them for everything.
bool is_ambiguous(std::int64_t code) { return code == -32000 || code == -32005; }

void judge_rule(const ProviderRule& rule, const Path& path, Reading& reading) {
    if (rule.cause.empty()) {
        return;  // a problem already
    }
    const bool told = !rule.says.empty() || !rule.status.empty() || !rule.members.empty() ||
                      !rule.headers.empty() || rule.hex_data;
    if (!told && rule.codes.empty()) {
        reading.problem(path, "has no condition that tells it from any other reply");
    }
    if (!told && rule.on.empty() &&
        std::any_of(rule.codes.begin(), rule.codes.end(), is_ambiguous)) {
        reading.problem(path.key("codes"), "-32000 and -32005 mean nothing without a wording");
    }
}

class File {
  public:
    File(Reading& reading, const std::string& source) : reading_(reading), source_(source) {}

    void read(const Node& root, Providers& providers) {
        const Path profiles = Path{source_ + ": profiles", "profiles"};
        const Node* node = nullptr;
        for (const auto& [key, value] : root.entries) {
            if (key == "profiles" && node == nullptr) {
                node = value.get();
            } else {
                reading_.problem(source_ + ": " + printable_key(key, value->line),
                                 key == "profiles" ? "is given more than once" : "unknown key");
            }
        }
        if (node == nullptr || node->kind != Node::Kind::map) {
            reading_.problem(profiles, "must be a map of names to profiles");
            return;
        }
        read_profiles(profiles, *node, providers);
        if (providers.find(kGenericProvider) == nullptr) {
            reading_.problem(profiles.key(kGenericProvider), "is missing");
        }
    }

  private:
    void read_profiles(const Path& path, const Node& node, Providers& providers) {
        if (node.entries.size() > kMaxProfiles) {
            reading_.problem(path, "holds too many profiles");
            return;
        }
        const Section<ProviderProfile> section = profile_section();
        for (const auto& [name, value] : node.entries) {
            const Path here = {path.shown + "." + printable_key(name, value->line), "profiles[]"};
            if (!is_upstream_name(name)) {
                reading_.problem(here, "must be letters, digits and . _ - only");
            } else if (providers.find(name) != nullptr) {
                reading_.problem(here, "is given more than once");
            }
            ProviderProfile profile;
            profile.name = name;
            read_section(section, reading_, here, *value, profile);
            if (profile.rules.size() > kMaxRules) {
                reading_.problem(here.key("rules"), "holds too many rules");
            }
            for (std::size_t i = 0; i < profile.rules.size(); ++i) {
                judge_rule(profile.rules[i], here.key("rules").item(i), reading_);
            }
            providers.profiles.push_back(std::move(profile));
        }
    }

    Reading& reading_;
    const std::string& source_;
};

}  // namespace

const ProviderProfile* Providers::find(std::string_view name) const {
    const auto at = std::find_if(profiles.begin(), profiles.end(),
                                 [name](const ProviderProfile& p) { return p.name == name; });
    return at != profiles.end() ? &*at : nullptr;
}

const std::string& Providers::name_of_host(std::string_view host) const {
    static const std::string kGeneric(kGenericProvider);
    for (const ProviderProfile& profile : profiles) {
        for (const std::string& pattern : profile.hosts) {
            if (core::glob_match(pattern, host)) {
                return profile.name;
            }
        }
    }
    return kGeneric;
}

ProvidersResult load_providers(std::string_view yaml, const std::string& source) {
    const auto document = parse_document(yaml);
    if (!document) {
        const Problem& problem = document.error();
        const std::string path = problem.path.empty() ? source : source + ": " + problem.path;
        return std::vector<Problem>{{path, problem.what}};
    }
    if ((*document)->kind != Node::Kind::map) {
        return std::vector<Problem>{{source, "must be a map with the key profiles"}};
    }
    Reading reading([](std::string_view) { return std::optional<std::string>(); });
    Providers providers;
    File(reading, source).read(**document, providers);
    if (reading.has_problems()) {
        return reading.take_problems();
    }
    return providers;
}

const Providers& built_in_providers() {
    static const Providers kBuiltIn = [] {
        ProvidersResult loaded = load_providers(built_in_providers_text(), "providers.yaml");
        return loaded ? std::move(*loaded) : Providers{};
    }();
    return kBuiltIn;
}

}  // namespace weir::config
