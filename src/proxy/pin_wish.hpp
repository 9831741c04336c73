// What a client asks for with `Weir-Block` or `?block=`, and `Weir-Optional`. Pure.
#pragma once

#include "chain/block_ref.hpp"
#include "core/result.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::proxy {

struct PinWish {
    chain::BlockRef block;
    std::vector<std::size_t> optional;  // places of calls that may be answered from `latest`
};

// The parts of a request's head that speak of it; a header that was not sent is nothing. `query` is
// that of the target, without its `?`.
struct PinWords {
    std::optional<std::string_view> block;
    std::optional<std::string_view> optional;
    std::string_view query;
};

// Null: the request is not pinned. An error says for people what cannot be read.
core::Result<std::shared_ptr<const PinWish>, const char*> read_pin_wish(const PinWords& words);

}  // namespace weir::proxy
