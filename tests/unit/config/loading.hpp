// Short ways to load a configuration in a test.
#pragma once

#include "config/load.hpp"

#include <map>
#include <string>
#include <vector>

namespace weir::config::testing {

inline Environment environment(std::map<std::string, std::string> variables = {}) {
    return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(std::string(name));
        return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
    };
}

// The problems as `weir check` prints them; none for a good configuration.
inline std::vector<std::string> lines(const LoadResult& result) {
    std::vector<std::string> text;
    if (!result) {
        for (const Problem& problem : result.error()) {
            text.push_back(to_string(problem));
        }
    }
    return text;
}

inline std::vector<std::string> problems(const std::string& yaml,
                                         std::map<std::string, std::string> variables = {}) {
    return lines(load(yaml, environment(std::move(variables))));
}

// A file with one good chain, and `rest` before it.
inline std::string with_chain(const std::string& rest) {
    return rest + "\nchains: [{chain_id: 1, upstreams: [{url: 'https://a.example'}]}]\n";
}

// One good chain whose upstream has the further keys `keys`, in flow style.
inline std::string with_upstream(const std::string& keys) {
    return "chains: [{chain_id: 1, upstreams: [{url: 'https://a.example', " + keys + "}]}]\n";
}

// One good chain with the further keys `keys`, in flow style.
inline std::string with_chain_keys(const std::string& keys) {
    return "chains: [{chain_id: 1, upstreams: [{url: 'https://a.example'}], " + keys + "}]\n";
}

}  // namespace weir::config::testing
