// The command line: what the daemon was asked to do, or why that cannot be made out.
#pragma once

#include "config/load.hpp"
#include "core/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weir::app {

struct Run {
    std::optional<std::string> config;  // a file's path
    config::Flags flags;
};

struct Demo {
    config::Flags flags;  // addresses only
};

struct Check {
    std::string config;
    enum class Ask : std::uint8_t { nobody, upstreams } ask = Ask::nobody;
};

struct Probe {
    std::vector<std::string> urls;
    enum class Form : std::uint8_t { table, json } form = Form::table;
};

struct Health {
    std::optional<std::string> admin;  // as written; the default address where left out
};

struct Version {};
struct Help {};

using Options = std::variant<Run, Demo, Check, Probe, Health, Version, Help>;

// Bad usage: one line for people. It repeats no argument that could be a URL or a key.
struct UsageError {
    std::string message;
};

// `arguments` without the program's name.
core::Result<Options, UsageError> parse_options(const std::vector<std::string_view>& arguments);

// Overwrites, in place, what may be a URL or hold a key, so that the process list does not show
// it: values of `--upstream` and everything else with `://`. Copy the arguments first.
void hide_urls(int argc, char** argv);

std::string help_text();

}  // namespace weir::app
