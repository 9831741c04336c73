// What a call's params say of a block, as strictly as the laxest node may read them: what one node
// refuses another takes for `latest`. Pure.
#pragma once

#include "chain/observation.hpp"

#include <cstdint>
#include <string_view>

namespace weir::routing {

// What a place for a block says.
enum class Says : std::uint8_t {
    nothing,
    the_block,  // `latest` in any spelling, or the block itself
    another,    // beyond doubt: a number, a hash, `earliest`, `safe` or `finalized`
    pending,
    unclear,  // some node may take it for its newest block
};

// `raw` is a tag, a number or a hash; empty where there is none.
Says word_says(std::string_view raw, const chain::BlockId& block);

// The same, or the object of EIP-1898.
Says place_says(std::string_view raw, const chain::BlockId& block);

struct FilterSays {
    Says from = Says::nothing;
    Says to = Says::nothing;
    bool by_hash = false;  // it names a block by its hash, and nothing beside

    bool is_one_block() const { return names(from) && names(to); }
    bool is_bound() const { return !by_hash && (names(from) || names(to)); }
    // May it be bound, or pass as it is?
    bool is_clear() const;
    static bool names(Says says) { return says == Says::nothing || says == Says::the_block; }
};

// Of a log filter's object.
FilterSays filter_says(std::string_view filter, const chain::BlockId& block);

// Does a place for a hash hold one?
bool is_hash_word(std::string_view raw);

}  // namespace weir::routing
