// How a request is told of: one log line, one update of the metrics.
#pragma once

#include "core/time.hpp"
#include "proxy/assemble.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/exchange.hpp"
#include "proxy/long_result.hpp"
#include "proxy/services.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::proxy {

// The outcomes of a call as a metric label: `ok`, `rpc_error`, the gateway errors by name, and
// `upstream_error` and `client_gone`.
std::vector<std::string> outcome_names();

struct Finished {
    const ClientRequest& request;
    const ResponseHead& head;
    std::span<const BatchItem> items;  // one for a single call
    Passed passed;                     // what became of its delivery
    core::TimePoint at;
    std::optional<ErrorType> refusal = {};  // of the request as a whole; then it has no items
};

void account(Services& services, const ChainContext& chain, const Finished& finished);

// A request that the server refused; null: nobody knows for which chain it was.
void account_refusal(Services& services, const ChainContext* chain, const Refused& request);

}  // namespace weir::proxy
