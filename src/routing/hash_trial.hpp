// The question that shows whether an upstream looks at a block's hash in a method's params: the
// method, asked of a block that nobody has. Pure.
#pragma once

#include "routing/hash_reads.hpp"
#include "routing/methods.hpp"
#include "routing/verdict.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::routing {

// Of a method that takes a hash in the place of a number, or in a filter.
std::string trial_params(const MethodTraits& traits);

// What it shows. Only an answer that a node could not give if it looked elsewhere is trust: that
// it knows no such block. `result` is raw, nothing for an error; `cause` is the error's.
HashReads::Trial trial_of(const MethodTraits& traits, std::optional<std::string_view> result,
                          Cause cause);

}  // namespace weir::routing
