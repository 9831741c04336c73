// Does any upstream know a transaction? Asked of all that are fit, side by side.
#pragma once

#include "core/time.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/services.hpp"
#include "routing/snapshot.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::proxy {

struct Lookup {
    enum class Found : std::uint8_t {
        yes,
        no,         // at least one upstream answered, and none knows it
        no_answer,  // nobody could be asked, or nobody answered
    } found = Found::no_answer;
    std::optional<routing::UpstreamIndex> upstream;  // who knows it
    std::string value;                               // raw JSON of what it said
};

// One round. An answer counts only if the hash in it is the one that was asked for.
// eth_getTransactionByHash, or eth_getTransactionReceipt.
enum class LookFor : std::uint8_t { transaction, receipt };
runtime::Task<Lookup> look_up(Services& services, ChainContext& chain, const std::string& hash,
                              LookFor what, core::TimePoint deadline);

// Rounds with a pause between them, until it is found or `until`.
runtime::Task<Lookup> look_up_until(Services& services, ChainContext& chain,
                                    const std::string& hash, LookFor what, core::TimePoint until);

}  // namespace weir::proxy
