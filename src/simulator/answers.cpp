#include "simulator/answers.hpp"

#include "core/hex.hpp"
#include "jsonrpc/value.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::simulator {
namespace {

struct Context {
    std::string_view params;
    const Script& script;
    const SimulatedChain& chain;
    Transactions& transactions;

    std::uint64_t head() const {
        const std::uint64_t head = chain.head();
        return head - std::min(head, script.lag_blocks);
    }
    std::string param(std::size_t index) const {
        return jsonrpc::string_value(jsonrpc::element(params, index)).value_or("");
    }
};

Answer result(std::string value) { return {Answer::Kind::result, std::move(value)}; }
Answer error(std::string value) { return {Answer::Kind::error, std::move(value)}; }

std::string quoted(std::string_view text) {
    std::string out(1, '"');
    out += text;
    out += '"';
    return out;
}
std::string quantity(std::uint64_t value) { return quoted(core::to_quantity(value)); }
std::string zeros(std::size_t bytes) { return "0x" + std::string(2 * bytes, '0'); }

// FNV-1a, to make answers out of questions.
std::uint64_t digest(std::string_view text, std::uint64_t seed) {
    std::uint64_t value = 0xCBF29CE484222325U ^ seed;
    for (const char c : text) {
        value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    }
    return value;
}

std::string digest_word(std::string_view text) {
    std::string out = "0x";
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        std::string word = core::to_quantity(digest(text, seed * 0x9E3779B97F4A7C15U)).substr(2);
        out += std::string(16 - word.size(), '0') + word;
    }
    return out;
}

// A block tag or number; nothing for one that is not there (yet).
std::optional<std::uint64_t> block_number(const Context& context, const std::string& reference) {
    const std::uint64_t head = context.head();
    if (reference.empty() || reference == "latest" || reference == "pending") {
        return head;
    }
    if (reference == "earliest") {
        return 0;
    }
    constexpr std::uint64_t kSafeDepth = 32;
    constexpr std::uint64_t kFinalDepth = 64;
    if (reference == "safe" || reference == "finalized") {
        return head - std::min(head, reference == "safe" ? kSafeDepth : kFinalDepth);
    }
    const std::optional<std::uint64_t> number = core::parse_quantity(reference);
    return number && *number <= head ? number : std::nullopt;
}

std::string block_json(const Block& block) {
    const std::string empty_root =
        "\"0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421\"";
    std::string out = R"({"number":)" + quantity(block.number);
    out += R"(,"hash":)" + quoted(block.hash);
    out += R"(,"parentHash":)" + quoted(block.parent);
    out += R"(,"timestamp":)" + quantity(block.timestamp);
    out += R"(,"nonce":"0x0000000000000000","difficulty":"0x0","totalDifficulty":"0x0")";
    out += R"(,"sha3Uncles":)"
           R"("0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347")";
    out += R"(,"logsBloom":)" + quoted(zeros(256));
    out += R"(,"transactionsRoot":)" + empty_root;
    out += R"(,"stateRoot":)" + quoted(digest_word(block.hash));
    out += R"(,"receiptsRoot":)" + empty_root;
    out += R"(,"miner":)" + quoted(zeros(20)) + R"(,"mixHash":)" + quoted(zeros(32));
    out += R"(,"extraData":"0x","size":"0x220","gasLimit":"0x1c9c380","gasUsed":"0x0")";
    out += R"(,"baseFeePerGas":"0x3b9aca00","transactions":[],"uncles":[]})";
    return out;
}

Answer chain_id(const Context& context) { return result(quantity(context.script.chain_id)); }

Answer network(const Context& context) {
    return result(quoted(std::to_string(context.script.chain_id)));
}

Answer client_version(const Context& /*context*/) { return result(R"("Simulator/v1")"); }

Answer head_number(const Context& context) { return result(quantity(context.head())); }

Answer block_by_number(const Context& context) {
    const auto number = block_number(context, context.param(0));
    return result(number ? block_json(context.chain.block(*number, context.script.fork)) : "null");
}

Answer block_by_hash(const Context& context) {
    const auto block = context.chain.find(context.param(0), context.script.fork);
    return result(block && block->number <= context.head() ? block_json(*block) : "null");
}

// The block of a state, given in the second parameter as a tag, a number or (EIP-1898) an object.
std::optional<std::uint64_t> state_block(const Context& context) {
    const std::string_view reference = jsonrpc::element(context.params, 1);
    if (!jsonrpc::is_object(reference)) {
        return block_number(context, jsonrpc::string_value(reference).value_or(""));
    }
    const auto hash = jsonrpc::string_value(jsonrpc::member(reference, "blockHash"));
    if (hash) {
        const auto block = context.chain.find(*hash, context.script.fork);
        return block && block->number <= context.head() ? std::optional(block->number)
                                                        : std::nullopt;
    }
    const auto number = jsonrpc::string_value(jsonrpc::member(reference, "blockNumber"));
    return block_number(context, number.value_or(""));
}

Answer of_state(const Context& context, std::string value) {
    const std::optional<std::uint64_t> block = state_block(context);
    if (!block) {
        return error(R"({"code":-32000,"message":"header not found"})");
    }
    const std::uint64_t depth = context.head() - *block;
    if (context.script.history && depth >= *context.script.history) {
        return error(R"({"code":-32000,"message":"missing trie node 1a2b (path ) <nil>"})");
    }
    return result(std::move(value));
}

Answer balance(const Context& context) {
    return of_state(context, quantity(digest(context.param(0), 0) >> 1U));
}

Answer transaction_count(const Context& context) {
    return of_state(context, quantity(context.transactions.size()));
}

Answer call(const Context& context) {
    return of_state(context, quoted(digest_word(jsonrpc::element(context.params, 0))));
}

Answer code(const Context& context) { return of_state(context, R"("0x")"); }

Answer gas_price(const Context& /*context*/) { return result(quantity(1'500'000'000)); }
Answer priority_fee(const Context& /*context*/) { return result(quantity(1'000'000'000)); }
Answer gas_estimate(const Context& /*context*/) { return result(quantity(21'000)); }
Answer yes(const Context& /*context*/) { return result("true"); }
Answer no(const Context& /*context*/) { return result("false"); }

std::string log_json(const Block& block, std::uint64_t index) {
    std::string out = R"({"address":)" + quoted("0x" + std::string(40, 'a'));
    out += R"(,"topics":[)" + quoted(digest_word("Transfer")) + "]";
    out += R"(,"data":)" + quoted(digest_word(std::to_string(index)));
    out += R"(,"blockNumber":)" + quantity(block.number);
    out += R"(,"blockHash":)" + quoted(block.hash);
    out += R"(,"transactionHash":)" + quoted(digest_word(block.hash));
    out += R"(,"transactionIndex":"0x0","logIndex":)" + quantity(index);
    out += R"(,"removed":false})";
    return out;
}

Answer logs(const Context& context) {
    const Block block = context.chain.block(context.head(), context.script.fork);
    std::string out = "[";
    for (std::uint64_t index = 0; out.size() < context.script.logs_bytes; ++index) {
        out += index == 0 ? "" : ",";
        out += log_json(block, index);
    }
    return result(out + "]");
}

Answer send_raw(const Context& context) {
    const std::string hash = transaction_hash(context.param(0));
    context.transactions.emplace(hash, context.head());
    return result(quoted(hash));
}

Answer receipt(const Context& context) {
    const std::string hash = context.param(0);
    const auto found = context.transactions.find(hash);
    if (found == context.transactions.end() || found->second > context.head()) {
        return result("null");
    }
    const Block block = context.chain.block(found->second, context.script.fork);
    std::string out = R"({"transactionHash":)" + quoted(hash) + R"(,"transactionIndex":"0x0")";
    out += R"(,"blockHash":)" + quoted(block.hash);
    out += R"(,"blockNumber":)" + quantity(block.number);
    out += R"(,"from":)" + quoted(zeros(20)) + R"(,"to":)" + quoted(zeros(20));
    out += R"(,"cumulativeGasUsed":"0x5208","gasUsed":"0x5208","effectiveGasPrice":"0x59682f00")";
    out += R"(,"contractAddress":null,"logs":[],"status":"0x1","type":"0x2")";
    out += R"(,"logsBloom":)" + quoted(zeros(256)) + "}";
    return result(out);
}

struct Method {
    std::string_view name;
    Answer (*answer)(const Context&);
};
constexpr std::array<Method, 19> kMethods = {{
    {"eth_chainId", chain_id},
    {"net_version", network},
    {"net_listening", yes},
    {"web3_clientVersion", client_version},
    {"eth_syncing", no},
    {"eth_blockNumber", head_number},
    {"eth_getBlockByNumber", block_by_number},
    {"eth_getBlockByHash", block_by_hash},
    {"eth_getBalance", balance},
    {"eth_getTransactionCount", transaction_count},
    {"eth_getCode", code},
    {"eth_call", call},
    {"eth_estimateGas", gas_estimate},
    {"eth_gasPrice", gas_price},
    {"eth_maxPriorityFeePerGas", priority_fee},
    {"eth_getLogs", logs},
    {"eth_sendRawTransaction", send_raw},
    {"eth_getTransactionReceipt", receipt},
    {"eth_mining", no},
}};

Answer not_there(std::string_view method) {
    std::string out = R"({"code":-32601,"message":)";
    jsonrpc::append_string(
        out, "the method " + std::string(method) + " does not exist/is not available");
    return error(out + "}");
}

Answer echo(std::string_view method, std::string_view params) {
    std::string out = R"({"method":)";
    jsonrpc::append_string(out, method);
    out += R"(,"params":)";
    out += params.empty() ? "null" : params;
    return result(out + "}");
}

}  // namespace

std::string transaction_hash(std::string_view raw) { return digest_word(raw); }

Answer answer_call(std::string_view method, std::string_view params, const Script& script,
                   const SimulatedChain& chain, Transactions& transactions) {
    const std::string name(method);
    const auto& missing = script.missing_methods;
    if (std::find(missing.begin(), missing.end(), name) != missing.end()) {
        return not_there(method);
    }
    if (const auto scripted = script.errors.find(name); scripted != script.errors.end()) {
        return error(scripted->second);
    }
    if (const auto scripted = script.answers.find(name); scripted != script.answers.end()) {
        return result(scripted->second);
    }
    const auto* const known = std::find_if(kMethods.begin(), kMethods.end(),
                                           [&](const Method& m) { return m.name == method; });
    if (known != kMethods.end()) {
        return known->answer({params, script, chain, transactions});
    }
    return script.unknown == UnknownMethods::echo ? echo(method, params) : not_there(method);
}

}  // namespace weir::simulator
