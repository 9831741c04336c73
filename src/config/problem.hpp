// What is wrong with a configuration, in words that never hold a value from it.
#pragma once

#include <string>

namespace weir::config {

struct Problem {
    std::string path;  // `chains[0].upstreams[1].url`, a flag's name, a file's; empty: all of it
    std::string what;  // `must be an absolute http or https URL`

    friend bool operator==(const Problem&, const Problem&) = default;
};

std::string to_string(const Problem& problem);  // `path: what`

}  // namespace weir::config
