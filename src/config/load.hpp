// From a YAML text, flags and the environment to a judged Config, or to every problem at once.
#pragma once

#include "config/config.hpp"
#include "config/expand.hpp"
#include "config/files.hpp"
#include "config/problem.hpp"
#include "core/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

using LoadResult = core::Result<Config, std::vector<Problem>>;

// What the command line can set, as written; `${NAME}` is expanded here too.
struct Flags {
    std::optional<std::string> chain_id;
    std::vector<std::string> upstreams;  // URLs; with chain_id they make one more chain
    std::vector<std::string> listen;     // in place of server.listen
    std::optional<std::string> admin;    // in place of admin.listen
};

// Problems carry the path of a key, or the name of a flag: `--upstream[1]`.
LoadResult load(std::string_view yaml, const Environment& environment, const Flags& flags = {});

// Without a file: every key but the flags' at its default.
LoadResult from_flags(const Flags& flags, const Environment& environment);

// Reads the file first; files that the configuration names must be readable too, and regular ones.
LoadResult load_file(const std::string& path, const Environment& environment,
                     const Flags& flags = {}, FileKind kind = FileKind::any);

// One flag that is an address, for a command that needs nothing else.
core::Result<Endpoint, Problem> load_endpoint(const std::string& flag, const std::string& value,
                                              const Environment& environment);

}  // namespace weir::config
