// Results that say which block they are of. Pure.
#pragma once

#include "chain/observation.hpp"
#include "routing/methods.hpp"

#include <cstdint>
#include <string_view>

namespace weir::routing {

enum class Named : std::uint8_t {
    nothing,
    the_block,
    another,
};

// What the result of a call that is bound to `block` names. Of a range that ends with the block,
// earlier ones belong to it. One pass, nothing kept; `params` as the client has them, `result`
// checked JSON.
Named named_block(const MethodTraits& traits, std::string_view params, std::string_view result,
                  const chain::BlockId& block);

}  // namespace weir::routing
