// Rules that bind several keys: defaults that depend on others, unique names, limits that fit.
#pragma once

#include "config/config.hpp"
#include "config/reading.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace weir::config {

// Names left out: `ethereum` for chain 1, else `chain-<id>`; `upstream-<place>`, from 1.
void fill_names(Config& config);

// The profile of each upstream: the one named, which must be there, or the one of its host.
void fill_providers(Config& config, Reading& reading);

// A client's one token becomes a list. After judge().
void gather_tokens(Config& config);

// What did not come from the file; problems then name the flag.
struct Origin {
    std::optional<std::size_t> flag_chain;  // place of the chain that came from flags
    std::string listen = "server.listen";
    std::string admin = "admin.listen";
};

void judge(const Config& config, const Origin& origin, Reading& reading);

// The files that the configuration names can be read.
void judge_files(const Config& config, Reading& reading);

}  // namespace weir::config
