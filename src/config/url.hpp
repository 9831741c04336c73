// Upstream URLs (RFC 3986, http and https), taken apart once and judged strictly.
#pragma once

#include "config/config.hpp"
#include "config/expand.hpp"
#include "core/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

struct ParsedUrl {
    Url url;
    std::vector<std::string> secrets;  // user-info, query values, long path segments, and what came
                                       // from the environment and is not the host itself
};

// No error message holds a piece of the text.
core::Result<ParsedUrl> parse_url(const Text& text);

}  // namespace weir::config
