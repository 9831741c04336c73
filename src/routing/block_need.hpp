// Which block a call needs, from the method table and the call's params. Pure.
#pragma once

#include "jsonrpc/request.hpp"
#include "routing/methods.hpp"

#include <cstdint>

namespace weir::routing {

struct BlockNeed {
    enum class Kind : std::uint8_t {
        any,      // none in particular: safe, finalized, a transaction's hash, gas prices
        latest,   // the newest, by name or by leaving the parameter out
        pending,  // the one to come, from the node's own pool
        number,
        hash,
    } kind = Kind::any;
    std::uint64_t number = 0;  // for Kind::number
    bool state = false;        // as it was then: a node that prunes may have it no more

    friend bool operator==(const BlockNeed&, const BlockNeed&) = default;
};

// Of a call of that method. What cannot be read counts as `latest`, as nodes would refuse it.
BlockNeed block_need(const MethodTraits& traits, const jsonrpc::Call& call);

}  // namespace weir::routing
