#include "routing/named_block.hpp"

#include "support/catch.hpp"

#include <string>

using namespace weir;
using routing::Named;

namespace {

const std::string kHash = "0x" + std::string(62, 'b') + "64";
const std::string kOther = "0x" + std::string(64, 'c');
const chain::BlockId kBlock{100, kHash};

std::string log(const std::string& number, const std::string& hash) {
    return R"({"address":"0x1","topics":[{"blockHash":"0x0"}],"blockNumber":")" + number +
           R"(","blockHash":")" + hash + R"(","removed":false})";
}

struct Row {
    std::string_view method;
    std::string params;
    std::string result;
    Named named;
};

}  // namespace

TEST_CASE("results that name their block are held against it") {
    using enum Named;
    const std::string upper = "0x" + std::string(62, 'B') + "64";
    for (const Row& row : {
             Row{"eth_getBlockByNumber", R"(["latest"])",
                 R"({"number":"0x64","hash":")" + kHash + "\"}", the_block},
             Row{"eth_getBlockByNumber", R"(["latest"])", R"({"h\u0061sh":")" + upper + "\"}",
                 the_block},
             Row{"eth_getBlockByNumber", R"(["latest"])", R"({"hash":")" + kOther + "\"}", another},
             Row{"eth_getBlockByNumber", R"(["latest"])", R"({"hash":null})", another},
             Row{"eth_getBlockByNumber", R"(["latest"])", R"({"x":{"hash":"0x1"}})", nothing},
             Row{"eth_getBlockByNumber", R"(["latest"])", "null", nothing},
             Row{"eth_getBlockByNumber", R"(["latest"])", "\"text\"", nothing},
             Row{"eth_getBlockReceipts", R"(["latest"])",
                 "[" + log("0x64", kHash) + "," + log("0x64", kHash) + "]", the_block},
             Row{"eth_getBlockReceipts", R"(["latest"])",
                 "[" + log("0x64", kHash) + "," + log("0x64", kOther) + "]", another},
             Row{"eth_getBlockReceipts", R"(["latest"])", "[]", nothing},
             Row{"eth_getBlockReceipts", R"(["latest"])",
                 R"(["0x1",{"x":1},[{"blockHash":"0x1"}]])", nothing},
             Row{"eth_getTransactionByBlockNumberAndIndex", R"(["latest","0x0"])",
                 R"({"hash":"0x1","blockHash":")" + kOther + "\"}", another},
             Row{"eth_getTransactionByBlockNumberAndIndex", R"(["latest","0x0"])",
                 R"({"hash":"0x1","blockHash":")" + kHash + "\"}", the_block},
             Row{"eth_getLogs", "[{}]", "[" + log("0x64", kHash) + "]", the_block},
             Row{"eth_getLogs", "[{}]", "[" + log("0x63", kOther) + "]", another},
             Row{"eth_getLogs", "[{}]", R"([{"blockHash":null,"blockNumber":null}])", another},
             Row{"eth_getLogs", "[{}]", R"([{"blockNumber":"0x65"}])", another},
             Row{"eth_getLogs", "[{}]", R"([{"blockNumber":"0x64"}])", nothing},
             Row{"eth_getLogs", R"([{"fromBlock":"0x1"}])",
                 "[" + log("0x63", kOther) + "," + log("0x64", kHash) + "]", the_block},
             Row{"eth_getLogs", R"([{"fromBlock":"0x1"}])", "[" + log("0x63", kOther) + "]",
                 nothing},
             Row{"eth_getLogs", R"([{"fromBlock":"0x1"}])", "[" + log("0x64", kOther) + "]",
                 another},
             Row{"eth_getLogs", R"([{"fromBlock":"0x1"}])",
                 "[" + log("0x64", kHash) + "," + log("0x65", kOther) + "]", another},
             Row{"eth_getLogs", R"([{"toBlock":"0x70"}])",
                 "[" + log("0x64", kHash) + "," + log("0x65", kOther) + "]", the_block},
             Row{"eth_getLogs", R"([{"toBlock":"0x70"}])", "[" + log("0x65", kOther) + "]",
                 nothing},
             Row{"eth_getLogs", R"([{"toBlock":"0x70"}])", "[" + log("0x64", kOther) + "]",
                 another},
             Row{"trace_filter", R"([{"fromBlock":"0x1"}])",
                 R"([{"blockNumber":101,"blockHash":")" + kOther + "\"}]", another},
             Row{"trace_block", R"(["latest"])",
                 R"([{"blockNumber":100,"blockHash":")" + kHash + "\"}]", the_block},
             Row{"eth_getBalance", R"(["0x1"])", R"({"hash":"0x1","blockHash":"0x1"})", nothing},
         }) {
        INFO(row.method << ' ' << row.params << ' ' << row.result);
        CHECK(routing::named_block(routing::find_method(row.method), row.params, row.result,
                                   kBlock) == row.named);
    }
}
