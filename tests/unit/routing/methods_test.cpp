#include "routing/methods.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <set>
#include <string>

using namespace weir::routing;

TEST_CASE("every method of the table is found under its own name and number") {
    std::set<std::string_view> names;
    for (std::size_t number = 1; number < method_count(); ++number) {
        const MethodTraits& traits = method_at(number);
        CHECK(names.insert(traits.name).second);
        CHECK(traits.name.size() >= 8);
        CHECK(&find_method(traits.name) == &traits);
        CHECK(method_number(traits) == number);
        CHECK(traits.known());
    }
    CHECK(method_count() > 150);
}

TEST_CASE("what is not in the table is a write, whatever its name looks like") {
    for (const char* name :
         {"", "e", "eth_", "eth_getEverything", "ETH_CALL", "eth_calL", "eth_callx", "xeth_call",
          "anvil_mine", "evm_snapshot", "hardhat_reset", "alchemy_getTokenBalances",
          "debug_setHead", "debug_freeOSMemory", "personal_sign", "admin_peers"}) {
        INFO(name);
        const MethodTraits& traits = find_method(name);
        CHECK_FALSE(traits.known());
        CHECK(traits.access == Access::write);
        CHECK(method_number(traits) == 0);
    }
    const std::string with_zero("eth_call\0", 9);
    CHECK_FALSE(find_method(with_zero).known());
}

TEST_CASE("block parameters stand where the execution API puts them") {
    struct Row {
        const char* name;
        BlockParam param;
        unsigned position;
    };
    for (const Row& row : {Row{"eth_getBalance", BlockParam::block, 1},
                           Row{"eth_getCode", BlockParam::block, 1},
                           Row{"eth_getTransactionCount", BlockParam::block, 1},
                           Row{"eth_getStorageAt", BlockParam::block, 2},
                           Row{"eth_getStorageValues", BlockParam::block, 1},
                           Row{"eth_getProof", BlockParam::block, 2},
                           Row{"eth_call", BlockParam::block, 1},
                           Row{"eth_estimateGas", BlockParam::block, 1},
                           Row{"eth_createAccessList", BlockParam::block, 1},
                           Row{"eth_simulateV1", BlockParam::block, 1},
                           Row{"eth_getBlockByNumber", BlockParam::block, 0},
                           Row{"eth_getBlockReceipts", BlockParam::block, 0},
                           Row{"eth_getBlockByHash", BlockParam::block_hash, 0},
                           Row{"eth_getLogs", BlockParam::log_filter, 0},
                           Row{"eth_newFilter", BlockParam::log_filter, 0},
                           Row{"eth_feeHistory", BlockParam::range_end, 1},
                           Row{"debug_traceCall", BlockParam::block, 1},
                           Row{"trace_call", BlockParam::block, 2},
                           Row{"trace_filter", BlockParam::log_filter, 0},
                           Row{"eth_getTransactionReceipt", BlockParam::none, 0},
                           Row{"eth_gasPrice", BlockParam::none, 0},
                           Row{"eth_blockNumber", BlockParam::head, 0}}) {
        INFO(row.name);
        const MethodTraits& traits = find_method(row.name);
        CHECK(traits.block_param == row.param);
        CHECK(traits.block_position == row.position);
    }
}

TEST_CASE("access and time class follow what a method does") {
    CHECK(find_method("eth_call").access == Access::read);
    CHECK(find_method("eth_fillTransaction").access == Access::read);
    CHECK(find_method("eth_sendRawTransaction").access == Access::broadcast);
    CHECK(find_method("eth_sendTransaction").access == Access::write);
    CHECK(find_method("eth_sign").access == Access::write);
    CHECK(find_method("eth_newBlockFilter").access == Access::make_filter);
    CHECK(find_method("eth_getFilterChanges").access == Access::poll_filter);
    CHECK(find_method("eth_uninstallFilter").access == Access::poll_filter);
    CHECK(find_method("eth_getFilterLogs").access == Access::read_filter);
    CHECK(find_method("eth_subscribe").access == Access::subscribe);
    CHECK(find_method("eth_chainId").access == Access::local);
    CHECK(find_method("net_version").access == Access::local);
    CHECK(find_method("net_listening").access == Access::local);
    for (const char* name : {"eth_getLogs", "eth_getProof", "eth_simulateV1", "trace_block",
                             "debug_traceTransaction"}) {
        CHECK(find_method(name).time_class == TimeClass::slow);
    }
    CHECK(find_method("eth_call").time_class == TimeClass::fast);
    CHECK(configured_read().access == Access::read);
    CHECK_FALSE(configured_read().known());

    CHECK(is_repeatable(Access::read));
    CHECK(is_repeatable(Access::make_filter));
    CHECK_FALSE(is_repeatable(Access::write));
    CHECK_FALSE(is_repeatable(Access::broadcast));
    CHECK_FALSE(is_repeatable(Access::poll_filter));
}

TEST_CASE("a look-up costs nanoseconds", "[.][bench]") {
    const std::string names[] = {"eth_call", "eth_getBlockByNumber", "eth_getTransactionReceipt",
                                 "eth_notThere", "eth_getLogs"};
    std::size_t sum = 0;
    constexpr int kRounds = 5'000'000;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) {
        sum += find_method(names[i % 5]).cost;
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    WARN("find_method: " << took.count() / kRounds << " ns (" << sum << ")");
}
