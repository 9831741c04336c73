// The question that shows whether an upstream looks at a block's hash in a method's params: the
// method, asked of a block that nobody has. One right answer may be chance, or one of several nodes
// behind a URL: it is asked twice, of two such blocks. Pure.
#pragma once

#include "routing/hash_reads.hpp"
#include "routing/methods.hpp"
#include "routing/verdict.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::routing {

// Blocks that nobody has.
constexpr std::size_t kTrials = 2;

// Of a method that takes a hash in the place of a number, or in a filter; `trial` below kTrials.
std::string trial_params(const MethodTraits& traits, std::size_t trial);

// What it shows. Only an answer that a node could not give if it looked elsewhere is trust: that
// it knows no such block. `result` is raw, nothing for an error; `cause` is the error's.
HashReads::Trial trial_of(const MethodTraits& traits, std::optional<std::string_view> result,
                          Cause cause);

}  // namespace weir::routing
