#include "config/expand.hpp"

#include <cstdlib>

namespace weir::config {
namespace {

constexpr std::size_t kMaxNameLength = 128;

bool is_variable_name(std::string_view name) {
    if (name.empty() || name.size() > kMaxNameLength || (name[0] >= '0' && name[0] <= '9')) {
        return false;
    }
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '_') {
            return false;
        }
    }
    return true;
}

// Replaces the reference whose inside (between the braces) is `inside`.
void replace(std::string_view inside, const Environment& env, Text& text,
             std::vector<std::string>& errors) {
    const std::size_t mark = inside.find(":-");
    const std::string_view name = inside.substr(0, mark);
    if (!is_variable_name(name)) {
        errors.emplace_back(
            "holds a ${...} without the name of a variable; $${ stands for a literal ${");
        return;
    }
    std::optional<std::string> value = env(name);
    if (mark != std::string_view::npos && (!value || value->empty())) {
        const std::string_view fallback = inside.substr(mark + 2);
        if (fallback.find("${") != std::string_view::npos) {
            errors.emplace_back("holds a ${...} inside another one");
            return;
        }
        value = std::string(fallback);
    }
    if (!value) {
        errors.push_back("the environment variable " + std::string(name) + " is not set");
        return;
    }
    text.value += *value;
    text.pieces.push_back(std::move(*value));
}

}  // namespace

Environment process_environment() {
    return [](std::string_view name) -> std::optional<std::string> {
        const char* value = std::getenv(std::string(name).c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
}

core::Result<Text, std::vector<std::string>> expand(std::string_view raw, const Environment& env) {
    Text text;
    std::vector<std::string> errors;
    while (!raw.empty()) {
        const std::size_t next = raw.find("${");
        text.value += raw.substr(0, next);
        if (next == std::string_view::npos) {
            break;
        }
        raw.remove_prefix(next + 2);
        if (next > 0 && text.value.back() == '$') {  // `$${`: one of the two is already there
            text.value += '{';
            continue;
        }
        const std::size_t end = raw.find('}');
        if (end == std::string_view::npos) {
            errors.emplace_back("holds a ${ without its }; $${ stands for a literal ${");
            break;
        }
        replace(raw.substr(0, end), env, text, errors);
        raw.remove_prefix(end + 1);
    }
    if (!errors.empty()) {
        return errors;
    }
    return text;
}

}  // namespace weir::config
