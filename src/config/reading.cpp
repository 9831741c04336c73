#include "config/reading.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <numeric>

namespace weir::config {
namespace {

constexpr std::size_t kMaxShownKey = 24;
constexpr std::size_t kMaxShownKeyWithDigits = 12;

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t k = 0; k < b.size(); ++k) {
            const std::size_t change = diagonal + (a[i] == b[k] ? 0 : 1);
            diagonal = row[k + 1];
            row[k + 1] = std::min({change, row[k] + 1, diagonal + 1});
        }
    }
    return row.back();
}

// Lower case and without the separators that people mix up.
std::string folded(std::string_view key) {
    std::string text = core::to_lower(key);
    std::erase_if(text, [](char c) { return c == '_' || c == '-'; });
    return text;
}

}  // namespace

std::string to_string(const Problem& problem) {
    return problem.path.empty() ? problem.what : problem.path + ": " + problem.what;
}

Path Path::key(std::string_view name) const {
    const std::string dot = shown.empty() ? "" : ".";
    return {shown + dot + std::string(name), pattern + dot + std::string(name)};
}

Path Path::item(std::size_t index) const {
    return {shown + "[" + std::to_string(index) + "]", pattern + "[]"};
}

void Reading::problem(const Path& path, std::string what) { problem(path.shown, std::move(what)); }

void Reading::problem(std::string path, std::string what) {
    problems_.push_back({std::move(path), std::move(what)});
}

std::optional<Text> Reading::text(const Path& path, const Node& node, Exposure exposure) {
    switch (node.kind) {
        case Node::Kind::scalar:
            return text(path, node.text, exposure);
        case Node::Kind::null:
            problem(path, "has no value");
            return std::nullopt;
        default:
            problem(path, "must be a single value");
            return std::nullopt;
    }
}

std::optional<Text> Reading::text(const Path& path, std::string_view raw, Exposure exposure) {
    auto expanded = expand(raw, environment_);
    if (!expanded) {
        for (const std::string& error : expanded.error()) {
            problem(path, error);
        }
        return std::nullopt;
    }
    if (exposure == Exposure::hidden) {
        for (const std::string& piece : expanded->pieces) {
            secret(piece);
        }
    }
    const bool control = std::any_of(expanded->value.begin(), expanded->value.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
    });
    if (control) {
        problem(path, "holds a line break or another control character");
        return std::nullopt;
    }
    return std::move(*expanded);
}

std::string printable_key(std::string_view key, std::size_t line) {
    const bool word = std::all_of(key.begin(), key.end(), [](char c) {
        const char lower = core::to_lower(c);
        return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
    const bool digits = key.find_first_of("0123456789") != std::string_view::npos;
    if (!key.empty() && word && key.size() <= (digits ? kMaxShownKeyWithDigits : kMaxShownKey)) {
        return std::string(key);
    }
    return "(the key on line " + std::to_string(line) + ")";
}

std::optional<std::string_view> nearest(std::string_view key,
                                        const std::vector<std::string_view>& known) {
    if (key.size() > kMaxShownKey) {
        return std::nullopt;
    }
    const std::string wanted = folded(key);
    std::optional<std::string_view> best;
    std::size_t best_distance = 1 + std::max<std::size_t>(1, wanted.size() / 3);
    for (const std::string_view candidate : known) {
        const std::size_t distance = edit_distance(wanted, folded(candidate));
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace weir::config
