// Rules that bind several keys: defaults that depend on others, unique names, limits that fit.
#pragma once

#include "config/config.hpp"
#include "config/reading.hpp"

#include <optional>

namespace weir::config {

// Names left out: `ethereum` for chain 1, else `chain-<id>`; `upstream-<place>`, from 1.
void fill_names(Config& config);

// `flag_chain` is the place of the chain that came from flags, if any; its problems name flags.
void judge(const Config& config, std::optional<std::size_t> flag_chain, Reading& reading);

// The files that the configuration names can be read.
void judge_files(const Config& config, Reading& reading);

}  // namespace weir::config
