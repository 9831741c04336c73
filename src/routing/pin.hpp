// A call bound to one block: what is to be done with it, and its params as they go upstream. Pure.
#pragma once

#include "chain/observation.hpp"
#include "routing/methods.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::routing {

// How a call stands to the block that its request is pinned to.
enum class PinEffect : std::uint8_t {
    none,         // it reads no block, or says that it wants another one
    bound,        // says `latest`, the block itself, or nothing
    number,       // asks which block is the newest one: the answer is the pinned block's number
    unplaceable,  // its params have no place where the block could stand
    unclear,      // some node may read another block from them, and others none
};

// How the block is named to an upstream.
enum class BlockForm : std::uint8_t { hash, number };

// `params` is checked JSON, or empty.
PinEffect pin_effect(const MethodTraits& traits, std::string_view params,
                     const chain::BlockId& block);

// Of a call that is bound:

// Can it be asked by hash?
bool has_hash_form(const MethodTraits& traits, std::string_view params,
                   const chain::BlockId& block);

// The method and the params that name the block so; all other bytes stay as they are.
std::string_view pinned_method(const MethodTraits& traits, BlockForm form);
std::string pinned_params(const MethodTraits& traits, std::string_view params,
                          const chain::BlockId& block, BlockForm form);

}  // namespace weir::routing
