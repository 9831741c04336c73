// The state of one load: where the reading stands, what was wrong so far, which secrets were met.
#pragma once

#include "config/document.hpp"
#include "config/expand.hpp"
#include "config/problem.hpp"
#include "config/secrets.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

// A key's place twice: as people see it, `chains[0].upstreams[1].url`, and as the tables know it,
// `chains[].upstreams[].url`.
struct Path {
    std::string shown;
    std::string pattern;

    Path key(std::string_view name) const;
    Path item(std::size_t index) const;
};

// Are the values that come from the environment under this key shown in logs, metrics and pages?
// Names, addresses, numbers and words of a fixed list are; anything else is secret.
enum class Exposure { shown, hidden };

class Reading {
  public:
    explicit Reading(Environment environment) : environment_(std::move(environment)) {}

    void problem(const Path& path, std::string what);
    void problem(std::string path, std::string what);
    bool has_problems() const { return !problems_.empty(); }
    std::vector<Problem> take_problems() { return std::move(problems_); }

    // The text of a scalar after `${...}` is replaced; nothing, and a problem, where the node is
    // no scalar, a variable is missing, or control characters came in.
    std::optional<Text> text(const Path& path, const Node& node, Exposure exposure);
    std::optional<Text> text(const Path& path, std::string_view raw, Exposure exposure);

    void secret(const std::string& value) { secrets_.add(value); }
    std::vector<core::Secret> take_secrets() const { return secrets_.take(); }

  private:
    Environment environment_;
    std::vector<Problem> problems_;
    Secrets secrets_;
};

// An unknown key as it may be shown: a short word stands as it is; what could be a value in the
// wrong place is only located.
std::string printable_key(std::string_view key, std::size_t line);

// The nearest of `known` to a mistyped `key`; nothing where none is near.
std::optional<std::string_view> nearest(std::string_view key,
                                        const std::vector<std::string_view>& known);

}  // namespace weir::config
