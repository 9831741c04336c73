// What a well provider answers to one call.
#pragma once

#include "simulator/chain.hpp"
#include "simulator/script.hpp"

#include <map>
#include <string>
#include <string_view>

namespace weir::simulator {

// The raw bytes of the one member that a reply has beside its id.
struct Answer {
    enum class Kind { result, error } kind = Kind::result;
    std::string value;
};

// Transactions that were sent to a provider: hash to the block in which they stand.
using Transactions = std::map<std::string, std::uint64_t, std::less<>>;

// `params` are raw bytes of checked JSON, or empty. A transaction that is sent is added to
// `transactions`.
Answer answer_call(std::string_view method, std::string_view params, const Script& script,
                   const SimulatedChain& chain, Transactions& transactions);

// A hash for a raw transaction: the same for the same bytes, but not keccak-256.
std::string transaction_hash(std::string_view raw);

}  // namespace weir::simulator
