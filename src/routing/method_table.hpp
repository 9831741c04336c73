// The table behind methods.hpp: every method that weir knows, one a line.
#pragma once

#include "routing/methods.hpp"

#include <array>

namespace weir::routing::table {

constexpr MethodTraits fast(std::string_view name, std::uint16_t cost) {
    return {name, Access::read, TimeClass::fast, BlockParam::none, 0, cost, 0};
}
constexpr MethodTraits fast(std::string_view name, std::uint16_t cost, BlockParam param,
                            std::uint8_t position) {
    return {name, Access::read, TimeClass::fast, param, position, cost, 0};
}
constexpr MethodTraits slow(std::string_view name, std::uint16_t cost,
                            BlockParam param = BlockParam::none, std::uint8_t position = 0) {
    return {name, Access::read, TimeClass::slow, param, position, cost, 0};
}
constexpr MethodTraits other(std::string_view name, Access access, std::uint16_t cost) {
    return {name, access, TimeClass::fast, BlockParam::none, 0, cost, 0};
}

// Takes the object of EIP-1898 where it takes a block's number.
constexpr MethodTraits by_object(MethodTraits traits) {
    traits.by_hash = ByHash::object;
    return traits;
}

// Reads of accounts or storage as of a block, or code that is run on them.
constexpr MethodTraits on_state(MethodTraits traits) {
    traits.reads_state = true;
    return traits.by_hash == ByHash::no ? by_object(traits) : traits;
}

// The same result, asked by the block's hash under another name.
constexpr MethodTraits twin(MethodTraits traits, std::string_view hash_method) {
    traits.by_hash = ByHash::method;
    traits.hash_method = hash_method;
    return traits;
}

constexpr MethodTraits by_filter(MethodTraits traits) {
    traits.by_hash = ByHash::filter;
    return traits;
}

constexpr MethodTraits names_itself(MethodTraits traits) {
    traits.names = Names::itself;
    return traits;
}

constexpr MethodTraits names_block(MethodTraits traits) {
    traits.names = Names::its_block;
    return traits;
}

constexpr MethodTraits or_null(MethodTraits traits) {
    traits.null_answers = true;
    return traits;
}

constexpr MethodTraits to_block(MethodTraits traits, std::uint8_t end_position) {
    traits.end_position = end_position;
    return traits;
}

// Reads of what a node holds for its next block.
constexpr MethodTraits pool(std::string_view name, TimeClass time_class, std::uint16_t cost) {
    return {name, Access::read, time_class, BlockParam::pending, 0, cost, 0};
}

constexpr BlockParam kBlock = BlockParam::block;
constexpr BlockParam kHash = BlockParam::block_hash;
constexpr BlockParam kLogs = BlockParam::log_filter;
constexpr BlockParam kRange = BlockParam::range_end;

// Costs are relative; their scale is that of the compute units in which large providers charge.
constexpr auto kMethods = std::to_array<MethodTraits>({
    // What the gateway answers by itself.
    other("eth_chainId", Access::local, 0),
    other("net_version", Access::local, 0),
    other("net_listening", Access::local, 0),

    // Writes. Signing spends no nonce, but it is the node's key that signs: once.
    other("eth_sendRawTransaction", Access::broadcast, 40),
    other("eth_sendRawTransactionSync", Access::broadcast, 40),
    other("eth_sendRawTransactionConditional", Access::broadcast, 40),
    other("eth_sendTransaction", Access::write, 40),
    other("eth_sign", Access::write, 20),
    other("eth_signTransaction", Access::write, 20),
    other("eth_submitWork", Access::write, 20),
    other("eth_submitHashrate", Access::write, 20),

    // Filters live in one node.
    {"eth_newFilter", Access::make_filter, TimeClass::fast, kLogs, 0, 20, 0},
    other("eth_newBlockFilter", Access::make_filter, 20),
    other("eth_newPendingTransactionFilter", Access::make_filter, 20),
    other("eth_getFilterChanges", Access::poll_filter, 20),
    other("eth_uninstallFilter", Access::poll_filter, 10),
    {"eth_getFilterLogs", Access::read_filter, TimeClass::slow, BlockParam::none, 0, 60, 0},
    other("eth_subscribe", Access::subscribe, 10),
    other("eth_unsubscribe", Access::subscribe, 10),
    other("debug_subscribe", Access::subscribe, 10),
    other("debug_unsubscribe", Access::subscribe, 10),

    // eth_: the node and the fee market.
    fast("eth_accounts", 10),
    fast("eth_baseFee", 10),
    fast("eth_blobBaseFee", 10),
    fast("eth_blockNumber", 10, BlockParam::head, 0),
    fast("eth_capabilities", 10),
    fast("eth_coinbase", 10),
    fast("eth_config", 10),
    fast("eth_feeHistory", 10, kRange, 1),
    fast("eth_gasPrice", 20),
    fast("eth_getWork", 10),
    fast("eth_hashrate", 10),
    fast("eth_maxPriorityFeePerGas", 10),
    fast("eth_mining", 10),
    fast("eth_protocolVersion", 10),
    fast("eth_syncing", 10),

    // eth_: blocks, transactions, receipts.
    or_null(names_block(by_object(fast("eth_getBlobSidecars", 20, kBlock, 0)))),
    or_null(by_object(fast("eth_getBlockAccessList", 40, kBlock, 0))),
    fast("eth_getBlockAccessListByBlockHash", 40, kHash, 0),
    or_null(twin(fast("eth_getBlockAccessListByBlockNumber", 40, kBlock, 0),
                 "eth_getBlockAccessListByBlockHash")),
    fast("eth_getBlockByHash", 20, kHash, 0),
    names_itself(twin(fast("eth_getBlockByNumber", 20, kBlock, 0), "eth_getBlockByHash")),
    names_block(by_object(fast("eth_getBlockReceipts", 20, kBlock, 0))),
    fast("eth_getBlockTransactionCountByHash", 20, kHash, 0),
    twin(fast("eth_getBlockTransactionCountByNumber", 20, kBlock, 0),
         "eth_getBlockTransactionCountByHash"),
    fast("eth_getHeaderByHash", 20, kHash, 0),
    names_itself(twin(fast("eth_getHeaderByNumber", 20, kBlock, 0), "eth_getHeaderByHash")),
    fast("eth_getRawTransactionByBlockHashAndIndex", 20, kHash, 0),
    or_null(twin(fast("eth_getRawTransactionByBlockNumberAndIndex", 20, kBlock, 0),
                 "eth_getRawTransactionByBlockHashAndIndex")),
    fast("eth_getRawTransactionByHash", 20),
    fast("eth_getTransactionByBlockHashAndIndex", 20, kHash, 0),
    or_null(names_block(twin(fast("eth_getTransactionByBlockNumberAndIndex", 20, kBlock, 0),
                             "eth_getTransactionByBlockHashAndIndex"))),
    fast("eth_getTransactionByHash", 20),
    fast("eth_getTransactionBySenderAndNonce", 20),
    fast("eth_getTransactionReceipt", 20),
    names_block(by_object(fast("eth_getTransactionReceiptsByBlock", 20, kBlock, 0))),
    fast("eth_getUncleByBlockHashAndIndex", 20, kHash, 0),
    or_null(twin(fast("eth_getUncleByBlockNumberAndIndex", 20, kBlock, 0),
                 "eth_getUncleByBlockHashAndIndex")),
    fast("eth_getUncleCountByBlockHash", 20, kHash, 0),
    twin(fast("eth_getUncleCountByBlockNumber", 20, kBlock, 0), "eth_getUncleCountByBlockHash"),
    pool("eth_pendingTransactions", TimeClass::fast, 40),

    // eth_: state, execution, logs.
    on_state(fast("eth_call", 26, kBlock, 1)),
    slow("eth_callMany", 80),
    on_state(slow("eth_createAccessList", 20, kBlock, 1)),
    on_state(fast("eth_estimateGas", 20, kBlock, 1)),
    pool("eth_fillTransaction", TimeClass::fast, 20),
    or_null(on_state(fast("eth_getAccount", 20, kBlock, 1))),
    on_state(fast("eth_getAccountInfo", 20, kBlock, 1)),
    on_state(fast("eth_getBalance", 20, kBlock, 1)),
    on_state(fast("eth_getCode", 20, kBlock, 1)),
    or_null(names_block(by_filter(slow("eth_getLogs", 60, kLogs, 0)))),
    on_state(slow("eth_getProof", 20, kBlock, 2)),
    on_state(fast("eth_getStorageAt", 20, kBlock, 2)),
    on_state(fast("eth_getStorageValues", 40, kBlock, 1)),
    on_state(fast("eth_getTransactionCount", 20, kBlock, 1)),
    on_state(slow("eth_simulateV1", 80, kBlock, 1)),

    // net_, web3_, txpool_.
    fast("net_peerCount", 10),
    fast("web3_clientVersion", 10),
    fast("web3_sha3", 10),
    pool("txpool_besuPendingTransactions", TimeClass::slow, 80),
    pool("txpool_besuStatistics", TimeClass::fast, 20),
    pool("txpool_besuTransactions", TimeClass::slow, 80),
    pool("txpool_content", TimeClass::slow, 80),
    pool("txpool_contentFrom", TimeClass::fast, 40),
    pool("txpool_inspect", TimeClass::slow, 80),
    pool("txpool_status", TimeClass::fast, 20),

    // debug_, those that read.
    twin(slow("debug_accountAt", 40, kBlock, 0), "debug_accountAt"),
    on_state(slow("debug_accountRange", 170, kBlock, 0)),
    fast("debug_chaindbProperty", 20),
    slow("debug_codeByHash", 20),
    fast("debug_dbAncient", 20),
    fast("debug_dbAncients", 20),
    fast("debug_dbGet", 20),
    on_state(slow("debug_dumpBlock", 170, kBlock, 0)),
    on_state(slow("debug_executionWitness", 170, kBlock, 0)),
    slow("debug_executionWitnessByBlockHash", 170, kHash, 0),
    fast("debug_gcStats", 20),
    slow("debug_getAccessibleState", 40),
    slow("debug_getBadBlocks", 40),
    or_null(by_object(slow("debug_getBlockAccessList", 40, kBlock, 0))),
    fast("debug_getBlockRlp", 40, kBlock, 0),
    slow("debug_getModifiedAccountsByHash", 80, kHash, 0),
    to_block(slow("debug_getModifiedAccountsByNumber", 80, kBlock, 0), 1),
    by_object(fast("debug_getRawBlock", 40, kBlock, 0)),
    by_object(fast("debug_getRawHeader", 20, kBlock, 0)),
    by_object(slow("debug_getRawReceipts", 40, kBlock, 0)),
    fast("debug_getRawTransaction", 20),
    fast("debug_getTrieFlushInterval", 10),
    slow("debug_intermediateRoots", 170, kHash, 0),
    fast("debug_memStats", 20),
    fast("debug_preimage", 20),
    fast("debug_printBlock", 40, kBlock, 0),
    slow("debug_storageRange", 170),
    twin(slow("debug_storageRangeAt", 170, kBlock, 0), "debug_storageRangeAt"),
    slow("debug_traceBadBlock", 170, kHash, 0),
    slow("debug_traceBlock", 170),
    slow("debug_traceBlockByHash", 170, kHash, 0),
    on_state(twin(slow("debug_traceBlockByNumber", 170, kBlock, 0), "debug_traceBlockByHash")),
    or_null(on_state(slow("debug_traceCall", 170, kBlock, 1))),
    slow("debug_traceCallMany", 170),
    slow("debug_traceTransaction", 170),

    // trace_.
    names_block(on_state(slow("trace_block", 90, kBlock, 0))),
    on_state(slow("trace_blockOpcodeGas", 90, kBlock, 0)),
    on_state(slow("trace_call", 90, kBlock, 2)),
    on_state(slow("trace_callMany", 170, kBlock, 1)),
    or_null(names_block(slow("trace_filter", 170, kLogs, 0))),
    slow("trace_get", 20),
    slow("trace_rawTransaction", 90),
    on_state(slow("trace_replayBlockTransactions", 170, kBlock, 0)),
    slow("trace_replayTransaction", 170),
    slow("trace_transaction", 40),
    slow("trace_transactionOpcodeGas", 90),

    // parity_.
    names_block(by_object(fast("parity_getBlockReceipts", 20, kBlock, 0))),

    // ots_.
    fast("ots_getApiLevel", 10),
    twin(fast("ots_getBlockDetails", 20, kBlock, 0), "ots_getBlockDetailsByHash"),
    fast("ots_getBlockDetailsByHash", 20, kHash, 0),
    slow("ots_getBlockTransactions", 40, kBlock, 0),
    slow("ots_getContractCreator", 80),
    fast("ots_getHeaderByNumber", 20, kBlock, 0),
    slow("ots_getInternalOperations", 90),
    slow("ots_getTransactionBySenderAndNonce", 80),
    slow("ots_getTransactionError", 90),
    on_state(fast("ots_hasCode", 20, kBlock, 1)),
    slow("ots_searchTransactionsAfter", 170),
    slow("ots_searchTransactionsBefore", 170),
    slow("ots_traceTransaction", 170),

    // erigon_.
    fast("erigon_blockNumber", 10, BlockParam::head, 0),
    fast("erigon_cumulativeChainTraffic", 20, kBlock, 0),
    fast("erigon_forks", 10),
    slow("erigon_getBalanceChangesInBlock", 80, kBlock, 0),
    fast("erigon_getBlockByTimestamp", 20),
    fast("erigon_getBlockReceiptsByBlockHash", 20, kHash, 0),
    fast("erigon_getHeaderByHash", 20, kHash, 0),
    names_itself(twin(fast("erigon_getHeaderByNumber", 20, kBlock, 0), "erigon_getHeaderByHash")),
    or_null(names_block(slow("erigon_getLatestLogs", 60, kLogs, 0))),
    or_null(names_block(slow("erigon_getLogs", 60, kLogs, 0))),
    slow("erigon_getLogsByHash", 60, kHash, 0),
    fast("erigon_nodeInfo", 10),
    fast("erigon_watchTheBurn", 20, kBlock, 0),

    // Rollups.
    fast("rollup_gasPrices", 20),
    fast("rollup_getInfo", 20),
    fast("arb_checkPublisherHealth", 10),
    fast("arb_findBatchContainingBlock", 20),
    fast("arb_getL1Confirmations", 20),
    fast("arb_getRawBlockMetadata", 20),
    fast("arb_maintenanceStatus", 10),
    fast("zks_L1BatchNumber", 10),
    fast("zks_L1ChainId", 10),
    fast("zks_estimateFee", 20),
    fast("zks_estimateGasL1ToL2", 20),
    slow("zks_getAllAccountBalances", 40),
    fast("zks_getBaseTokenL1Address", 10),
    fast("zks_getBatchFeeInput", 10),
    fast("zks_getBlockDetails", 20, kBlock, 0),
    fast("zks_getBridgeContracts", 10),
    fast("zks_getBridgehubContract", 10),
    fast("zks_getBytecodeByHash", 20),
    fast("zks_getConfirmedTokens", 20),
    fast("zks_getFeeParams", 10),
    fast("zks_getL1BatchBlockRange", 20),
    fast("zks_getL1BatchDetails", 20),
    fast("zks_getL1GasPrice", 10),
    fast("zks_getL2Multicall3", 10),
    slow("zks_getL2ToL1LogProof", 40),
    slow("zks_getL2ToL1MsgProof", 40),
    fast("zks_getMainContract", 10),
    slow("zks_getProof", 40),
    fast("zks_getProtocolVersion", 10),
    slow("zks_getRawBlockTransactions", 40, kBlock, 0),
    fast("zks_getTestnetPaymaster", 10),
    fast("zks_getTimestampAsserter", 10),
    fast("zks_getTokenPrice", 10),
    fast("zks_getTransactionDetails", 20),
    fast("zks_gasPerPubdata", 10),

    // bor_.
    fast("bor_getAuthor", 20, kBlock, 0),
    fast("bor_getCurrentProposer", 20),
    fast("bor_getCurrentValidators", 20),
    fast("bor_getHeaderByNumber", 20, kBlock, 0),
    fast("bor_getRootHash", 40),
    twin(fast("bor_getSigners", 20, kBlock, 0), "bor_getSignersAtHash"),
    fast("bor_getSignersAtHash", 20, kHash, 0),
    twin(fast("bor_getSnapshot", 20, kBlock, 0), "bor_getSnapshotAtHash"),
    fast("bor_getSnapshotAtHash", 20, kHash, 0),
    fast("bor_getSnapshotProposer", 20, kBlock, 0),
    fast("bor_getSnapshotProposerSequence", 20, kBlock, 0),
    fast("bor_getVoteOnHash", 40),
});

}  // namespace weir::routing::table
