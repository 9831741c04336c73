// The hash under which a signed transaction becomes known, from the bytes that are broadcast.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::chain {

// `raw` as eth_sendRawTransaction takes it, decoded: a legacy transaction or one of a type of
// EIP-2718. A blob transaction in its network form (EIP-4844, and EIP-7594 with a version before
// the blobs) is hashed without its sidecar. `0x` and 64 lower-case digits; nothing for bytes that
// cannot be a transaction, which a node refuses too.
std::optional<std::string> transaction_hash(std::string_view raw);

}  // namespace weir::chain
