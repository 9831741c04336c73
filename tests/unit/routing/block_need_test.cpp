#include "routing/block_need.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>

using namespace weir::routing;
using Kind = BlockNeed::Kind;

namespace {

BlockNeed need_of(std::string_view method, std::string_view params) {
    return block_need(find_method(method), {.id = "1", .method = method, .params = params});
}

}  // namespace

TEST_CASE("the block that a call needs is read from its params") {
    const std::string hash = "0x" + std::string(64, 'a');
    struct Row {
        const char* method;
        std::string params;
        Kind kind;
        std::uint64_t number = 0;
    };
    for (const Row& row : {
             Row{"eth_blockNumber", "[]", Kind::latest},
             Row{"eth_blockNumber", "", Kind::latest},
             Row{"eth_gasPrice", "[]", Kind::any},
             Row{"eth_getTransactionReceipt", R"(["0xab"])", Kind::any},
             Row{"eth_call", R"([{"to":"0x1"}])", Kind::latest},
             Row{"eth_call", R"([{"to":"0x1"},null])", Kind::latest},
             Row{"eth_call", R"([{"to":"0x1"},"latest"])", Kind::latest},
             Row{"eth_call", R"([{"to":"0x1"},"pending"])", Kind::pending},
             Row{"eth_call", R"([{"to":"0x1"},"safe"])", Kind::any},
             Row{"eth_call", R"([{"to":"0x1"},"finalized"])", Kind::any},
             Row{"eth_call", R"([{"to":"0x1"},"earliest"])", Kind::number, 0},
             Row{"eth_call", R"([{"to":"0x1"},"0x10"])", Kind::number, 16},
             Row{"eth_call", R"([{"to":"0x1"},16])", Kind::number, 16},
             Row{"eth_call", R"([{"to":"0x1"},{"blockNumber":"0x10"}])", Kind::number, 16},
             Row{"eth_call", R"([{"to":"0x1"},{"blockHash":")" + hash + "\"}]", Kind::hash},
             Row{"eth_call", R"([{"to":"0x1"},")" + hash + "\"]", Kind::hash},
             Row{"eth_call", R"([{"to":"0x1"},"nonsense"])", Kind::latest},
             Row{"eth_getStorageAt", R"(["0x1","0x0","0x7"])", Kind::number, 7},
             Row{"eth_getBlockByHash", "[\"" + hash + "\",true]", Kind::hash},
             Row{"eth_getLogs", "[{}]", Kind::latest},
             Row{"eth_getLogs", R"([{"fromBlock":"0x1"}])", Kind::latest},
             Row{"eth_getLogs", R"([{"fromBlock":"0x1","toBlock":"0x64"}])", Kind::number, 100},
             Row{"eth_getLogs", R"([{"toBlock":"finalized"}])", Kind::any},
             Row{"eth_getLogs", R"([{"blockHash":")" + hash + "\"}]", Kind::hash},
             Row{"eth_feeHistory", R"(["0x4","0x64",[]])", Kind::number, 100},
             Row{"eth_feeHistory", R"(["0x4","latest",[]])", Kind::latest},
             Row{"txpool_status", "[]", Kind::pending},
             Row{"some_unknownMethod", R"(["0x1"])", Kind::any},
         }) {
        INFO(row.method << ' ' << row.params);
        const BlockNeed need = need_of(row.method, row.params);
        CHECK(need.kind == row.kind);
        CHECK(need.number == row.number);
    }
}

TEST_CASE("state is needed by what looks at accounts or runs code") {
    CHECK(need_of("eth_getBalance", R"(["0x1","0x10"])").state);
    CHECK(need_of("eth_call", R"([{},"0x10"])").state);
    CHECK(need_of("debug_traceCall", R"([{},"0x10",{}])").state);
    CHECK_FALSE(need_of("eth_getBlockByNumber", R"(["0x10",false])").state);
    CHECK_FALSE(need_of("eth_getLogs", R"([{"toBlock":"0x10"}])").state);
}
