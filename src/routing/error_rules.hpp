// What the words and the code of an error say, whoever said them. A table, in order of precedence.
#pragma once

#include "jsonrpc/reply.hpp"
#include "routing/methods.hpp"
#include "routing/verdict.hpp"

#include <optional>
#include <string_view>

namespace weir::routing {

// The cause that an error object names by itself; nothing where no rule knows it. Rate limits are
// never told from -32005 or -32000 alone: those codes have a dozen meanings.
std::optional<Cause> cause_of_error(const MethodTraits& traits, const jsonrpc::ErrorObject& error);

// The cause that a text names which is not JSON-RPC: a plain body, a bare message.
std::optional<Cause> cause_of_text(std::string_view text);

}  // namespace weir::routing
