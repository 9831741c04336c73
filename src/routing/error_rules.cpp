#include "routing/error_rules.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace weir::routing {
namespace {

// True when every part (the second may be empty) stands in the lower-case text.
struct Wording {
    Cause cause;
    std::string_view part;
    std::string_view second = {};

    bool matches(std::string_view text) const {
        return text.find(part) != text.npos && text.find(second) != text.npos;
    }
};

// The outcome of execution: the message begins so.
constexpr std::string_view kReverts[] = {"execution reverted",
                                         "vm execution error",
                                         "vm exception while processing transaction",
                                         "evm error:",
                                         "historical backend error: execution reverted",
                                         "error: vm exception while processing transaction",
                                         "error: transaction reverted",
                                         "transaction reverted"};

// What a transaction pool says about a transaction.
constexpr Wording kPool[] = {
    {Cause::already_known, "already known"},
    {Cause::already_known, "alreadyknown"},
    {Cause::already_known, "known transaction"},
    {Cause::already_known, "already imported"},
    {Cause::already_known, "already exists in cache"},
    {Cause::already_known, "pool(alreadyimported"},
    {Cause::already_known, "transaction already finalized"},
    {Cause::nonce_too_low, "nonce too low"},
    {Cause::nonce_too_low, "nonce is too low"},
    {Cause::nonce_too_low, "oldnonce"},
    {Cause::nonce_too_low, "ownnoncealreadyused"},
    {Cause::nonce_too_low, "invalid transaction nonce"},
    {Cause::nonce_too_low, "pool(stale"},
    {Cause::underpriced, "underpriced"},
    {Cause::underpriced, "feetoolow"},
    {Cause::underpriced, "replacementnotallowed"},
    {Cause::underpriced, "gas price", "too low"},
    {Cause::underpriced, "gas price", "below"},
    {Cause::underpriced, "less than block base fee"},
    {Cause::underpriced, "insufficient gas price to replace"},
    {Cause::underpriced, "transaction fee too low"},
    {Cause::underpriced, "had higher priority"},
    {Cause::tx_rejected, "insufficient funds"},
    {Cause::tx_rejected, "nonce too high"},
    {Cause::tx_rejected, "intrinsic gas too low"},
    {Cause::tx_rejected, "block gas limit"},
    {Cause::tx_rejected, "gas limit reached"},
    {Cause::tx_rejected, "gaslimitexceeded"},
    {Cause::tx_rejected, "transaction gas limit"},
    {Cause::tx_rejected, "account limit exceeded"},
    {Cause::tx_rejected, "transaction limit reached"},
    {Cause::tx_rejected, "invalid sender"},
    {Cause::tx_rejected, "transaction type not supported"},
    {Cause::tx_rejected, "tx pool full"},
    {Cause::tx_rejected, "transaction rejected"},
};

// Everything else, most telling first: missing blocks and state before ranges, sizes before
// limits, spent plans before limits, limits before generic trouble.
constexpr Wording kWordings[] = {
    {Cause::block_unknown, "header not found"},
    {Cause::block_unknown, "unknown block"},
    {Cause::block_unknown, "block not found"},
    {Cause::block_unknown, "unsupported block number"},
    {Cause::block_unknown, "beyond the latest block"},
    {Cause::block_unknown, "beyond current head"},
    {Cause::block_unknown, "not processed yet"},
    {Cause::block_unknown, "initial sync"},
    {Cause::block_unknown, "indexing is in progress"},
    {Cause::block_unknown, "upstream not synced"},
    {Cause::state_missing, "missing trie node"},
    {Cause::state_missing, "no state available"},
    {Cause::state_missing, "unknown state"},
    {Cause::state_missing, "historical state"},
    {Cause::state_missing, "state", "not available"},
    {Cause::state_missing, "pruned"},
    {Cause::state_missing, "older than", "blocks"},
    {Cause::state_missing, "archive data"},
    {Cause::state_missing, "archival requests"},
    {Cause::state_missing, "archive", "personal token"},
    {Cause::state_missing, "max-recreate-state-depth"},

    {Cause::batch_too_large, "batch", "too large"},
    {Cause::batch_too_large, "batch limit", "exceeded"},
    {Cause::batch_too_large, "batch size"},
    {Cause::batch_too_large, "batch request amount"},
    {Cause::batch_too_large, "batch of more than"},
    {Cause::batch_too_large, "calls in batch"},
    {Cause::batch_too_large, "batch requests are disabled"},
    {Cause::batch_too_large, "batched requests are not supported"},

    {Cause::range_too_large, "block range"},
    {Cause::range_too_large, "blocks range"},
    {Cause::range_too_large, "range limit"},
    {Cause::range_too_large, "range is too"},
    {Cause::range_too_large, "range too large"},
    {Cause::range_too_large, "ranges over"},
    {Cause::range_too_large, "is limited to", "range"},
    {Cause::range_too_large, "exceeds limit of"},
    {Cause::range_too_large, "max range"},
    {Cause::response_too_large, "query returned more than"},
    {Cause::response_too_large, "more than", "logs returned"},
    {Cause::response_too_large, "response size"},
    {Cause::response_too_large, "response too large"},
    {Cause::response_too_large, "response is too big"},
    {Cause::response_too_large, "exceeds max results"},

    {Cause::quota_exhausted, "monthly capacity limit"},
    {Cause::quota_exhausted, "daily request count exceeded"},
    {Cause::quota_exhausted, "daily credit limit"},
    {Cause::quota_exhausted, "daily", "limit reached"},
    {Cause::quota_exhausted, "daily request cost limit"},
    {Cause::quota_exhausted, "max daily rate limit"},
    {Cause::quota_exhausted, "monthly quota"},
    {Cause::quota_exhausted, "quota exceeded"},
    {Cause::quota_exhausted, "exceeded the quota"},
    {Cause::quota_exhausted, "reached the quota"},
    {Cause::quota_exhausted, "quota limit reached"},
    {Cause::quota_exhausted, "ran out of cu"},
    {Cause::quota_exhausted, "usage limit for your current plan"},
    {Cause::quota_exhausted, "max usage reached"},

    {Cause::plan_lacks_method, "not available on freetier"},
    {Cause::plan_lacks_method, "not available for unregistered"},
    {Cause::plan_lacks_method, "not included in your", "plan"},
    {Cause::plan_lacks_method, "upgrade from", "plan"},
    {Cause::plan_lacks_method, "methods not permitted"},
    {Cause::plan_lacks_method, "methods not allowed"},
    {Cause::plan_lacks_method, "method", "is not allowed"},

    {Cause::auth_failed, "unauthorized"},
    {Cause::auth_failed, "api key not found"},
    {Cause::auth_failed, "api key disabled"},
    {Cause::auth_failed, "invalid api key"},
    {Cause::auth_failed, "must be authenticated"},
    {Cause::auth_failed, "authenticated api key required"},
    {Cause::auth_failed, "token is invalid"},
    {Cause::auth_failed, "invalid project id"},
    {Cause::auth_failed, "project id settings"},
    {Cause::auth_failed, "origin not on whitelist"},

    {Cause::method_unsupported, "method", "does not exist"},
    {Cause::method_unsupported, "method not found"},
    {Cause::method_unsupported, "method not supported"},
    {Cause::method_unsupported, "method not enabled"},
    {Cause::method_unsupported, "method", "is not supported"},
    {Cause::method_unsupported, "method", "is not whitelisted"},
    {Cause::method_unsupported, "unsupported method"},

    {Cause::rate_limited, "too many requests"},
    {Cause::rate_limited, "rate limit"},
    {Cause::rate_limited, "rate-limit"},
    {Cause::rate_limited, "ratelimit"},
    {Cause::rate_limited, "request limit reached"},
    {Cause::rate_limited, "requests per second"},
    {Cause::rate_limited, "compute units per second"},
    {Cause::rate_limited, "concurrent requests"},
    {Cause::rate_limited, "credits limited to"},
    {Cause::rate_limited, "throughput limit"},
    {Cause::rate_limited, "cups limit"},
    {Cause::rate_limited, "qps limit"},
    {Cause::rate_limited, "rps limit"},
    {Cause::rate_limited, "request rate exceeded"},
    {Cause::rate_limited, "over capacity"},

    {Cause::timeout, "request timed out"},
    {Cause::timeout, "request timeout"},
    {Cause::timeout, "gateway timeout"},
    {Cause::timeout, "timeout expired"},
    {Cause::timeout, "due to enabled timeout"},
    {Cause::timeout, "execution aborted (timeout"},

    {Cause::server_error, "temporary internal error"},
    {Cause::server_error, "temporarily unavailable"},
    {Cause::server_error, "service unavailable"},
    {Cause::server_error, "internal error, please"},
    {Cause::server_error, "bad gateway"},
    {Cause::server_error, "no available upstreams"},
    {Cause::server_error, "no nodes available"},
    {Cause::server_error, "backend", "healthy"},
    {Cause::server_error, "backend offline"},
    {Cause::server_error, "backend returned an invalid"},
    {Cause::server_error, "server overloaded"},
    {Cause::server_error, "server is busy"},
    {Cause::server_error, "server is shutting down"},
    {Cause::server_error, "unable to complete request"},
};

// -32603 says "internal" of everything; only with these words does it say nothing else.
constexpr std::string_view kGenericInternal[] = {"", "internal error", "internal json-rpc error",
                                                 "internal server error", "server error"};

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kInternal = -32603;
constexpr int kMethodNotEnabled = -32604;
constexpr int kVmError = -32015;

constexpr std::size_t kLongestText = 2048;  // wordings stand near the beginning

std::optional<Cause> first_match(std::span<const Wording> rules, std::string_view text) {
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [text](const Wording& w) { return w.matches(text); });
    return rule != rules.end() ? std::optional(rule->cause) : std::nullopt;
}

bool begins_with_any(std::span<const std::string_view> beginnings, std::string_view text) {
    return std::any_of(beginnings.begin(), beginnings.end(), [text](std::string_view beginning) {
        return text.substr(0, beginning.size()) == beginning;
    });
}

bool is_revert(std::int64_t code, std::string_view text, const jsonrpc::ErrorObject& error) {
    if (begins_with_any(kReverts, text)) {
        return true;
    }
    if (code == kVmError) {
        return text.find("revert") != text.npos;
    }
    // Code 3 with return data is a revert however it is worded.
    return code == 3 && error.data.size() > 4 && error.data.substr(0, 3) == "\"0x";
}

bool is_generic_internal(std::string_view text) {
    while (!text.empty() && (text.back() == '.' || text.back() == ' ')) {
        text.remove_suffix(1);
    }
    return std::find(std::begin(kGenericInternal), std::end(kGenericInternal), text) !=
           std::end(kGenericInternal);
}

}  // namespace

std::optional<Cause> cause_of_text(std::string_view text) {
    const std::string lower = core::to_lower(core::trim(text.substr(0, kLongestText)));
    std::string_view line = lower;
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) {
        line.remove_suffix(1);
    }
    if (line == "error code: 1015") {  // an edge network's own rate limit; 1010 is a refusal
        return Cause::rate_limited;
    }
    return first_match(kWordings, line);
}

std::optional<Cause> cause_of_error(const MethodTraits& traits, const jsonrpc::ErrorObject& error) {
    const std::int64_t code = error.code.value_or(0);
    const std::string text =
        core::to_lower(std::string_view(error.message).substr(0, kLongestText));

    const bool sends = traits.access == Access::broadcast || traits.access == Access::write;
    const auto pool = sends ? first_match(kPool, text) : std::nullopt;
    if (pool && !begins_with_any(kReverts, text)) {
        return pool;
    }
    if (is_revert(code, text, error)) {
        return Cause::reverted;
    }
    const auto worded = first_match(kWordings, text);
    if (code == kMethodNotFound || code == kMethodNotEnabled) {
        // Some gateways say "method not found" when it is the plan or a limit that failed.
        const bool plan = worded == Cause::plan_lacks_method || worded == Cause::quota_exhausted;
        return plan ? worded : Cause::method_unsupported;
    }
    if (code == kInvalidParams || code == kParseError) {
        // The node read the params and judged them; what it quotes of them is the caller's.
        switch (worded.value_or(Cause::unknown)) {
            case Cause::range_too_large:
            case Cause::response_too_large:
            case Cause::block_unknown:
            case Cause::state_missing:
                return worded;
            default:
                return Cause::invalid_params;
        }
    }
    if (worded) {
        return worded;
    }
    if (code == 429) {
        return Cause::rate_limited;
    }
    if (code == kInternal && is_generic_internal(text)) {
        return Cause::server_error;
    }
    if (code == kInvalidRequest && text == "invalid request") {
        return Cause::invalid_params;
    }
    return std::nullopt;
}

}  // namespace weir::routing
