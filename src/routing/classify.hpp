// An attempt's outcome to a verdict. Pure.
#pragma once

#include "routing/methods.hpp"
#include "routing/verdict.hpp"

#include <string_view>

namespace weir::routing {

// `method` as the client wrote it and its traits. An error object that no rule knows is an answer;
// HTTP noise that no rule knows is `bad_reply`. Never fails, whatever the bytes.
Verdict classify(const MethodTraits& traits, const AttemptOutcome& outcome);

}  // namespace weir::routing
