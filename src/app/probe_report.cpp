#include "app/probe_report.hpp"

#include "config/names.hpp"
#include "core/text.hpp"
#include "server/json_writer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace weir::app {
namespace {

using probe::Findings;
using probe::MethodFinding;
using probe::Support;

// Shorter chains are kept whole by many a node that prunes.
constexpr std::uint64_t kLongChain = 10'000;

double in_milliseconds(core::Duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

std::string milliseconds_text(core::Duration duration) {
    std::array<char, 32> text{};
    const double value = in_milliseconds(duration);
    std::snprintf(text.data(), text.size(), value < 10 ? "%.1f ms" : "%.0f ms", value);
    return text.data();
}

std::string age_text(std::int64_t seconds) {
    if (seconds < -1) {
        return std::to_string(-seconds) + " s ahead of this machine's clock";
    }
    const std::int64_t age = std::max<std::int64_t>(seconds, 0);
    if (age < 600) {
        return std::to_string(age) + " s old";
    }
    return age < 172'800 ? std::to_string(age / 60) + " min old"
                         : std::to_string(age / 86'400) + " days old";
}

std::string batch_text(const Findings& found) {
    const probe::BatchFinding& batch = found.batch;
    if (!found.batch_asked) {
        return "not asked";
    }
    std::string text = batch.taken < 2 ? "no arrays" : std::to_string(batch.taken) + " calls";
    if (batch.refused && batch.taken > 1) {
        text += "; " + std::to_string(*batch.refused) + " are refused";
    } else if (batch.limited) {
        text += " at least; larger arrays ran into the rate limit";
    } else if (!batch.trouble.empty()) {
        text += " at least; then: " + batch.trouble;
    } else if (!batch.refused) {
        text += " or more";
    }
    return text;
}

std::string state_text(const Findings& found) {
    const probe::DepthFinding& depth = found.depth;
    if (!found.head) {
        return "cannot be told without a head";
    }
    if (found.head->number < 2) {
        return "the chain is too short to tell";
    }
    if (depth.reaches(found.head->number)) {
        return found.head->number > kLongChain ? "archive: back to block 1"
                                               : "of every block, back to block 1";
    }
    std::string text = depth.has ? "of the last " + std::to_string(*depth.has) + " blocks"
                                 : std::string("of the newest block at most");
    if (depth.lacks) {
        text += "; not of " + std::to_string(*depth.lacks) + " blocks ago";
    }
    return depth.trouble.empty() ? text : text + "; then: " + depth.trouble;
}

std::string tag_text(Support support, std::uint64_t behind) {
    std::string text(to_string(support));
    return support == Support::yes ? text + ", " + std::to_string(behind) + " blocks behind" : text;
}

std::string latency_text(const Findings& found) {
    std::string text;
    if (!found.latencies.empty()) {
        text = milliseconds_text(found.latencies[found.latencies.size() / 2]) + " median, " +
               milliseconds_text(found.latencies.back()) + " the slowest of " +
               std::to_string(found.latencies.size());
    }
    if (found.first_latency) {
        text += (text.empty() ? "" : "; ") + milliseconds_text(*found.first_latency) +
                " the first, with its connection";
    }
    return text;
}

std::string methods_of(const Findings& found, Support support) {
    std::string text;
    for (const MethodFinding& method : found.methods) {
        if (method.support == support) {
            text += (text.empty() ? "" : ", ") + method.name;
        }
    }
    return text;
}

class Table {
  public:
    explicit Table(const std::string& title) : text_(title + "\n") {}
    void row(std::string_view name, const std::string& value) {
        if (!value.empty()) {
            constexpr std::size_t kColumn = 16;
            text_ += "  " + std::string(name);
            text_ += std::string(kColumn - std::min(kColumn - 1, name.size()), ' ') + value + "\n";
        }
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

std::string quoted(std::string_view text) {
    std::string out(1, '"');
    for (const char c : text) {
        out += c == '"' || c == '\\' ? std::string(1, '\\') + c : std::string(1, c);
    }
    return out + '"';
}

// `alchemy-2` to ALCHEMY_2_URL.
std::string variable_for(std::string_view name) {
    std::string variable;
    for (const char c : name) {
        const bool letter = c >= 'a' && c <= 'z';
        const bool kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        variable += letter ? static_cast<char>(c - 'a' + 'A') : (kept ? c : '_');
    }
    const bool starts_with_digit =
        !variable.empty() && variable.front() >= '0' && variable.front() <= '9';
    return (starts_with_digit ? "UPSTREAM_" : "") + variable + "_URL";
}

void write_support(server::JsonWriter& out, Support support) {
    constexpr std::array<std::string_view, 5> kWords = {"unasked", "yes", "no", "paid", "unclear"};
    out.value(kWords[static_cast<std::size_t>(support)]);
}

void write_number(server::JsonWriter& out, std::string_view key,
                  const std::optional<std::uint64_t>& number) {
    out.key(key);
    if (number) {
        out.value(*number);
    } else {
        out.null();
    }
}

void write_text(server::JsonWriter& out, std::string_view key, std::string_view text) {
    out.key(key);
    if (text.empty()) {
        out.null();
    } else {
        out.value(text);
    }
}

void write_head(server::JsonWriter& out, const Findings& found) {
    out.key("head");
    if (!found.head) {
        out.null();
        return;
    }
    out.open('{');
    out.key("number");
    out.value(found.head->number);
    out.key("hash");
    out.value(found.head->hash);
    out.key("age_seconds");
    out.value(static_cast<double>(found.head_age));
    out.close('}');
}

void write_limits(server::JsonWriter& out, const ProbeReport& report) {
    const Findings& found = report.found;
    out.key("batch");
    out.open('{');
    out.key("taken");
    out.value(found.batch.taken);
    write_number(out, "refused", found.batch.refused);
    out.key("exact");
    out.truth(found.batch.is_exact());
    out.key("rate_limited");
    out.truth(found.batch.limited);
    out.close('}');
    out.key("history");
    out.open('{');
    out.key("complete");
    out.truth(found.head && found.depth.reaches(found.head->number));
    write_number(out, "has_blocks", found.depth.has);
    write_number(out, "lacks_blocks", found.depth.lacks);
    out.close('}');
}

void write_latency(server::JsonWriter& out, const Findings& found) {
    const auto value = [&out](std::string_view key, std::optional<core::Duration> latency) {
        out.key(key);
        out.value(latency ? std::optional(in_milliseconds(*latency)) : std::nullopt);
    };
    const auto& all = found.latencies;
    out.key("latency_ms");
    out.open('{');
    value("first", found.first_latency);
    value("p50", all.empty() ? std::nullopt : std::optional(all[all.size() / 2]));
    value("max", all.empty() ? std::nullopt : std::optional(all.back()));
    out.close('}');
}

void write_report(server::JsonWriter& out, const ProbeReport& report) {
    const Findings& found = report.found;
    out.open('{');
    out.key("endpoint");
    out.value(report.endpoint);
    out.key("provider");
    out.value(report.provider);
    write_number(out, "chain_id", found.chain_id);
    write_text(out, "problem", found.trouble);
    write_text(out, "cause", found.chain_id ? "" : routing::to_string(found.trouble_cause));
    write_head(out, found);
    write_text(out, "client_version", found.version);
    out.key("finalized");
    write_support(out, found.finalized);
    out.key("safe");
    write_support(out, found.safe);
    write_limits(out, report);
    out.key("eip1898");
    write_support(out, found.by_hash);
    out.key("methods");
    out.open('{');
    for (const MethodFinding& method : found.methods) {
        out.key(method.name);
        write_support(out, method.support);
    }
    out.close('}');
    write_latency(out, found);
    out.key("rate_headers");
    out.open('{');
    for (const auto& [name, value] : found.limits) {
        out.key(name);
        out.value(value);
    }
    out.close('}');
    out.key("requests");
    out.value(report.requests);
    out.key("rate_limited");
    out.value(report.limited);
    out.key("complete");
    out.truth(!report.cut_short && found.chain_id.has_value());
    write_text(out, "upstream", found.chain_id ? as_entry(report) : "");
    out.close('}');
}

std::string limits_text(const ProbeReport& report) {
    if (report.limited == 0) {
        return "none met in " + std::to_string(report.requests) + " requests";
    }
    return std::to_string(report.limited) + " of " + std::to_string(report.requests) +
           " requests were told to slow down";
}

}  // namespace

std::string as_table(const ProbeReport& report) {
    const Findings& found = report.found;
    Table table(report.endpoint);
    if (!found.chain_id) {
        table.row("problem", std::string(routing::to_string(found.trouble_cause)) +
                                 (found.trouble.empty() ? "" : ": " + found.trouble));
        table.row("requests", std::to_string(report.requests));
        return table.take();
    }
    table.row("chain id", std::to_string(*found.chain_id));
    table.row("provider", report.provider);
    table.row("client", found.version);
    if (found.head) {
        table.row("head", std::to_string(found.head->number) +
                              (found.head_time == 0 ? "" : ", " + age_text(found.head_age)) + ", " +
                              found.head->hash);
    } else {
        table.row("head", "not shown");
    }
    table.row("finalized", tag_text(found.finalized, found.finalized_behind));
    table.row("safe", tag_text(found.safe, found.safe_behind));
    table.row("batch", batch_text(found));
    table.row("state", state_text(found));
    table.row("state by hash", std::string(to_string(found.by_hash)) + " (EIP-1898)" +
                                   (found.by_hash_words.empty() ? "" : ": " + found.by_hash_words));
    table.row("methods", methods_of(found, Support::yes));
    table.row("  missing", methods_of(found, Support::no));
    table.row("  other plan", methods_of(found, Support::paid));
    table.row("  not asked", methods_of(found, Support::unasked));
    for (const MethodFinding& method : found.methods) {
        if (method.support == Support::unclear) {
            table.row("  unclear", method.name + ": " + method.words);
        }
    }
    table.row("latency", latency_text(found));
    table.row("rate limit", limits_text(report));
    for (const auto& [name, value] : found.limits) {
        table.row("  header", name + ": " + value);
    }
    if (report.cut_short) {
        table.row("incomplete", "the bound on requests was reached");
    }
    return table.take();
}

std::string as_json(const std::vector<ProbeReport>& reports) {
    server::JsonWriter out;
    out.open('{');
    out.key("endpoints");
    out.open('[');
    for (const ProbeReport& report : reports) {
        write_report(out, report);
    }
    out.close(']');
    out.close('}');
    return out.take();
}

std::string as_entry(const ProbeReport& report) {
    const Findings& found = report.found;
    std::string text = "      - name: " + report.name + "\n        url: ";
    if (report.url) {
        text += quoted(*report.url) + "\n";
    } else {
        text += "\"${" + variable_for(report.name) + "}\"  # holds a secret: not printed\n";
    }
    if (found.batch.refused) {
        text += "        batch: {max_calls: " + std::to_string(found.batch.taken) + "}\n";
    }
    if (found.head && found.head->number > kLongChain && found.depth.reaches(found.head->number)) {
        text += "        history: archive\n";
    } else if (found.depth.lacks) {
        const std::uint64_t blocks = std::max<std::uint64_t>(found.depth.has.value_or(1), 1);
        text += "        history: " + std::to_string(blocks) + "\n";
    }
    return text;
}

std::optional<std::string> showable_url(std::string_view given) {
    std::string literal;  // `${...}` left out
    for (std::size_t at = 0; at < given.size();) {
        const std::size_t end =
            given.substr(at).starts_with("${") ? given.find('}', at) : std::string_view::npos;
        if (end != std::string_view::npos) {
            // A default is written out, and may be a key.
            if (given.substr(at, end - at).find(":-") != std::string_view::npos) {
                return std::nullopt;
            }
            at = end + 1;
        } else {
            literal += given[at++];
        }
    }
    const std::size_t scheme = literal.find("://");
    const std::string rest = scheme == std::string::npos ? literal : literal.substr(scheme + 3);
    if (rest.find_first_of("@?#%") != std::string::npos) {
        return std::nullopt;
    }
    constexpr std::size_t kSecret = 16;
    for (std::size_t slash = rest.find('/'); slash != std::string::npos;) {
        const std::size_t next = rest.find('/', slash + 1);
        if (std::min(next, rest.size()) - slash - 1 >= kSecret) {
            return std::nullopt;
        }
        slash = next;
    }
    return std::string(given);
}

std::string proposed_name(std::string_view provider, std::string_view host_label) {
    const std::string name(provider == "generic" ? host_label : provider);
    return config::is_upstream_name(name) ? name : "upstream";
}

}  // namespace weir::app
