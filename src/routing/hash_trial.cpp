#include "routing/hash_trial.hpp"

#include "jsonrpc/value.hpp"

#include <algorithm>
#include <array>

namespace weir::routing {
namespace {

// Params with `@` for an account and `#` for the block.
struct Shape {
    std::string_view method;
    std::string_view params;
};

constexpr auto kShapes = std::to_array<Shape>({
    {"debug_accountRange", R"([#,"0x",1,true,true,true])"},
    {"debug_traceCall", R"([{"to":@},#,{}])"},
    {"eth_call", R"([{"to":@},#])"},
    {"eth_createAccessList", R"([{"to":@},#])"},
    {"eth_estimateGas", R"([{"to":@},#])"},
    {"eth_getLogs", R"([#])"},
    {"eth_getProof", "[@,[],#]"},
    {"eth_getStorageAt", R"([@,"0x0",#])"},
    {"eth_getStorageValues", R"([{@:["0x0"]},#])"},
    {"eth_simulateV1", R"([{"blockStateCalls":[{}]},#])"},
    {"trace_call", R"([{"to":@},["trace"],#])"},
    {"trace_callMany", R"([[[{"to":@},["trace"]]],#])"},
    {"trace_replayBlockTransactions", R"([#,["trace"]])"},
});

// The rest take an account and a block, or a block alone.
std::string_view shape_of(const MethodTraits& traits) {
    const auto* const known = std::find_if(kShapes.begin(), kShapes.end(), [&](const Shape& each) {
        return each.method == traits.name;
    });
    if (known != kShapes.end()) {
        return known->params;
    }
    return traits.block_position == 0 ? "[#]" : "[@,#]";
}

}  // namespace

std::string trial_params(const MethodTraits& traits, std::size_t trial) {
    constexpr std::string_view kAccount = R"("0x7765697200000000000000000000000000000001")";
    constexpr std::array<std::string_view, kTrials> kHashes{
        R"("0x776569723a206120626c6f636b2074686174206e6f20636861696e206861732e")",
        R"("0x776569723a20616e6f746865722074686174206e6f20636861696e206861732e")"};
    const bool filter = traits.by_hash == ByHash::filter;
    std::string params;
    for (const char c : shape_of(traits)) {
        if (c == '@') {
            params += kAccount;
        } else if (c == '#') {
            params += R"({"blockHash":)";
            params += kHashes.at(trial);
            params += filter ? "}" : R"(,"requireCanonical":true})";
        } else {
            params += c;
        }
    }
    return params;
}

HashReads::Trial trial_of(const MethodTraits& traits, std::optional<std::string_view> result,
                          Cause cause) {
    using Trial = HashReads::Trial;
    if (result) {
        if (!jsonrpc::is_null(*result)) {
            return Trial::answered;
        }
        // Of a block, null says that there is none such; of anything else it says nothing.
        const bool of_a_block = traits.names != Names::nothing && !traits.null_answers;
        return of_a_block ? Trial::unknown_block : Trial::refused;
    }
    switch (cause) {
        case Cause::block_unknown:
            return Trial::unknown_block;
        case Cause::invalid_params:
        case Cause::method_unsupported:
        case Cause::plan_lacks_method:
            return Trial::refused;
        default:
            return Trial::unclear;
    }
}

}  // namespace weir::routing
