// What a pinned block makes of a call.
#include "routing/pin.hpp"

#include "jsonrpc/value.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace weir;
using routing::BlockForm;
using routing::PinEffect;

namespace {

const std::string kHash = "0x" + std::string(62, 'b') + "64";
const chain::BlockId kBlock{100, kHash};
const std::string kObject = R"({"blockHash":")" + kHash + R"(","requireCanonical":true})";
const std::string kOther = "\"0x" + std::string(64, 'c') + '"';
const std::string kQuoted = '"' + kHash + '"';

struct Row {
    std::string_view method;
    std::string params;
    PinEffect effect;
    std::string by_number = {};
    std::string by_hash = {};  // empty: it has no such form
};

void check(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        INFO(row.method << ' ' << row.params);
        const routing::MethodTraits& traits = routing::find_method(row.method);
        REQUIRE(routing::pin_effect(traits, row.params, kBlock) == row.effect);
        if (row.effect != PinEffect::bound) {
            continue;
        }
        const std::string by_number =
            routing::pinned_params(traits, row.params, kBlock, BlockForm::number);
        CHECK(by_number == row.by_number);
        CHECK(jsonrpc::is_valid(by_number));
        REQUIRE(routing::has_hash_form(traits, row.params, kBlock) == !row.by_hash.empty());
        if (!row.by_hash.empty()) {
            CHECK(routing::pinned_params(traits, row.params, kBlock, BlockForm::hash) ==
                  row.by_hash);
        }
    }
}

}  // namespace

TEST_CASE("a read of state that says latest, the block itself or nothing is bound") {
    using enum PinEffect;
    const auto both = [](std::string_view method, const std::string& params,
                         const std::string& before, const std::string& after) {
        return Row{method, params, bound, before + R"("0x64")" + after, before + kObject + after};
    };
    check({
        both("eth_getBalance", R"(["0x1","latest"])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1"])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"([ "0x1" , null ])", R"([ "0x1" , )", " ]"),
        both("eth_getBalance", R"(["0x1","l\u0061test"])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1","0x64"])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1","0x0064"])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1",{"blockNumber":"latest"}])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1",{"blockNumber":"0x64"}])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1","LATEST"])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1"," Latest\t"])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1",""])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1",{"blockNumber":"laTest"}])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1",{"BlockNumber":"latest"}])", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1",{"blockNumber":"latest","requireCanonical":false}])",
             R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1",{"blockNumber":"0x64","blockHash":)" + kQuoted + "}]",
             R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1",{"block\u0048ash":)" + kQuoted + "}]", R"(["0x1",)", "]"),
        both("eth_getBalance", R"(["0x1",)" + kQuoted + "]", R"(["0x1",)", "]"),
        both("eth_getCode", R"(["0x1","latest"])", R"(["0x1",)", "]"),
        both("eth_getTransactionCount", R"(["0x1","latest"])", R"(["0x1",)", "]"),
        both("eth_getStorageAt", R"(["0x1","0x0"])", R"(["0x1","0x0",)", "]"),
        both("eth_getStorageAt", R"(["0x1","0x0","latest"])", R"(["0x1","0x0",)", "]"),
        both("eth_getProof", R"(["0x1",[],"latest"])", R"(["0x1",[],)", "]"),
        both("eth_call", R"([{"data":"latest"},"latest",{"0x1":{}}])", R"([{"data":"latest"},)",
             R"(,{"0x1":{}}])"),
        both("eth_estimateGas", R"([{}])", R"([{},)", "]"),
        both("eth_createAccessList", R"([{}])", R"([{},)", "]"),
        both("eth_simulateV1", R"([{"blockStateCalls":[]},"latest"])",
             R"([{"blockStateCalls":[]},)", "]"),
        both("eth_getBlockReceipts", R"(["latest"])", "[", "]"),
        both("parity_getBlockReceipts", R"(["latest"])", "[", "]"),
        both("eth_getBlobSidecars", R"(["latest",true])", "[", ",true]"),
        both("debug_traceCall", R"([{},"latest",{"tracer":"x"}])", "[{},", R"(,{"tracer":"x"}])"),
        both("debug_getRawHeader", R"(["latest"])", "[", "]"),
        both("trace_call", R"([{},["trace"]])", R"([{},["trace"],)", "]"),
        both("trace_block", R"(["latest"])", "[", "]"),
    });
}

TEST_CASE("calls that name another block, none or the one to come stay as they are") {
    using enum PinEffect;
    check({
        {"eth_getBalance", R"(["0x1","0x63"])", none},
        {"eth_getBalance", R"(["0x1","pending"])", none},
        {"eth_getBalance", R"(["0x1","earliest"])", none},
        {"eth_getBalance", R"(["0x1","safe"])", none},
        {"eth_getBalance", R"(["0x1","finalized"])", none},
        {"eth_getBalance", "[\"0x1\"," + kOther + "]", none},
        {"eth_getBalance", "[\"0x1\",{\"blockHash\":" + kOther + "}]", none},
        {"eth_getBalance",
         "[\"0x1\",{\"blockHash\":" + kOther + ",\"requireCanonical\":true,\"blockNumber\":null}]",
         none},
        {"eth_getBalance", R"(["0x1",{"blockNumber":"0x63"}])", none},
        {"eth_getBalance", R"(["0x1",{"blockNumber":"safe"}])", none},
        {"eth_getBalance", R"(["0x1",99])", none},
        {"debug_getModifiedAccountsByNumber", "[98,99]", none},
        {"debug_getModifiedAccountsByNumber", "[99]", none},
        {"eth_getBlockByHash", "[" + kQuoted + ",false]", none},
        {"eth_getTransactionReceipt", R"(["0x1"])", none},
        {"eth_gasPrice", "[]", none},
        {"eth_chainId", "[]", none},
        {"eth_sendRawTransaction", R"(["0x1"])", none},
        {"eth_newFilter", "[{}]", none},
        {"txpool_status", "[]", none},
        {"someone_elses", R"(["latest"])", none},
    });
}

TEST_CASE("what some node may take for its newest block is not passed") {
    using enum PinEffect;
    for (const std::string& word :
         std::vector<std::string>{R"("latst")",
                                  R"("Pending")",
                                  R"("SAFE")",
                                  R"("Earliest")",
                                  R"("990")",
                                  R"("0x")",
                                  R"("0X64")",
                                  R"("0x63 ")",
                                  R"("-1")",
                                  R"("0x10000000000000000")",
                                  R"("0x123456789012345678901234567890")",
                                  "-1",
                                  "-2",
                                  "99.0",
                                  "1e2",
                                  "18446744073709551616",
                                  "true",
                                  "false",
                                  R"(["latest"])",
                                  "[]",
                                  "{}",
                                  R"({"requireCanonical":true})",
                                  R"({"blockHash":null})",
                                  R"({"blockHash":"0x12"})",
                                  R"({"blockHash":"latest"})",
                                  R"({"blockNumber":""})",
                                  R"({"BlockNumber":"0x63"})",
                                  R"({"blockNumber":"0x63","blockNumber":"latest"})",
                                  R"({"blockNumber":"latest","blockNumber":"0x63"})",
                                  R"({"blockNumber":"latest","blockHash":)" + kOther + "}",
                                  R"({"blockNumber":"0x63","blockHash":)" + kOther + "}",
                                  R"({"blockHash":)" + kOther + R"(,"tag":"latest"})",
                                  R"({"blockNumber":{"blockHash":)" + kOther + "}}"}) {
        check({{"eth_getBalance", R"(["0x1",)" + word + "]", unclear},
               {"eth_getBlockByNumber", "[" + word + ",false]", unclear},
               {"eth_feeHistory", R"(["0x1",)" + word + ",[]]", unclear}});
        if (word.starts_with('"') || !word.starts_with('{')) {
            check({{"eth_getLogs", R"([{"fromBlock":)" + word + "}]", unclear},
                   {"eth_getLogs", R"([{"fromBlock":"0x1","toBlock":)" + word + "}]", unclear}});
        }
    }
    check({
        {"eth_getBlockByHash", R"(["latest",false])", unclear},
        {"eth_getBlockByHash", R"(["0x63",false])", unclear},
        {"eth_getBlockByHash", "[null]", unclear},
        {"eth_getBlockByHash", "[]", unplaceable},
        {"debug_intermediateRoots", R"(["latest"])", unclear},
        {"debug_getModifiedAccountsByNumber", R"(["0x1","latest"])", unclear},
        {"debug_getModifiedAccountsByNumber", R"(["latest","LATEST"])", unclear},
        {"debug_getModifiedAccountsByNumber", R"(["latest","pending"])", unclear},
    });
}

TEST_CASE("a number that the client has as a JSON number stays one") {
    using enum PinEffect;
    check({
        {"eth_getBalance", R"(["0x1",100])", bound, R"(["0x1",100])", R"(["0x1",)" + kObject + "]"},
        {"zks_getBlockDetails", "[100]", bound, "[100]", ""},
        {"debug_getModifiedAccountsByNumber", "[100]", bound, "[100]", ""},
        {"debug_getModifiedAccountsByNumber", "[100,101]", bound, "[100,101]", ""},
        {"trace_filter", R"([{"fromBlock":1,"toBlock":100}])", bound,
         R"([{"fromBlock":1,"toBlock":100}])", ""},
    });
}

TEST_CASE("the newest block's number is the block's, and what has no place for it is told") {
    using enum PinEffect;
    check({
        {"eth_blockNumber", "[]", number},
        {"eth_blockNumber", "", number},
        {"eth_getBalance", "[]", unplaceable},
        {"eth_getBalance", "", unplaceable},
        {"eth_getBalance", "null", unplaceable},
        {"eth_getBalance", R"({"address":"0x1"})", unplaceable},
        {"eth_getStorageAt", R"(["0x1"])", unplaceable},
        {"trace_call", "[{}]", unplaceable},
    });
}

TEST_CASE("blocks are asked for by hash under the other method's name, with the same result") {
    using enum PinEffect;
    check({
        {"eth_getBlockByNumber", R"(["latest",true])", bound, R"(["0x64",true])",
         "[" + kQuoted + ",true]"},
        {"eth_getBlockByNumber", "[]", bound, R"(["0x64"])", "[" + kQuoted + "]"},
        {"eth_getBlockByNumber", "", bound, R"(["0x64"])", "[" + kQuoted + "]"},
        {"eth_getBlockByNumber", R"(["0x63",true])", none},
        {"eth_getTransactionByBlockNumberAndIndex", R"(["latest","0x0"])", bound,
         R"(["0x64","0x0"])", "[" + kQuoted + R"(,"0x0"])"},
        {"debug_traceBlockByNumber", R"(["latest",{}])", bound, R"(["0x64",{}])",
         "[" + kQuoted + ",{}]"},
        {"debug_storageRangeAt", R"(["latest",0,"0x1"])", bound, R"(["0x64",0,"0x1"])",
         "[" + kQuoted + R"(,0,"0x1"])"},
        {"debug_storageRangeAt", "[" + kOther + R"(,0,"0x1"])", none},
        {"debug_accountAt", R"(["latest",0,"0x1"])", bound, R"(["0x64",0,"0x1"])",
         "[" + kQuoted + R"(,0,"0x1"])"},
        {"debug_getBlockRlp", R"(["latest"])", bound, R"(["0x64"])", ""},
        {"eth_feeHistory", R"(["0x4","latest",[25]])", bound, R"(["0x4","0x64",[25]])", ""},
        {"eth_feeHistory", R"(["0x4"])", bound, R"(["0x4","0x64"])", ""},
        {"eth_feeHistory", R"(["0x4","pending",[]])", none},
    });
    for (std::size_t i = 1; i < routing::method_count(); ++i) {
        const routing::MethodTraits& traits = routing::method_at(i);
        INFO(traits.name);
        CHECK(routing::pinned_method(traits, BlockForm::number) == traits.name);
        if (traits.by_hash == routing::ByHash::method) {
            const auto& other =
                routing::find_method(routing::pinned_method(traits, BlockForm::hash));
            CHECK(other.known());
            CHECK((other.block_param == routing::BlockParam::block_hash || &other == &traits));
        }
    }
}

TEST_CASE("log filters take the hash where their range is the block alone, else numbers") {
    using enum PinEffect;
    const std::string hash = R"("blockHash":)" + kQuoted;
    check({
        {"eth_getLogs", "[{}]", bound, R"([{"fromBlock":"0x64","toBlock":"0x64"}])",
         "[{" + hash + "}]"},
        {"eth_getLogs", R"([{"fromBlock":"latest","toBlock":"latest","address":"0x1"}])", bound,
         R"([{"fromBlock":"0x64","toBlock":"0x64","address":"0x1"}])",
         R"([{"address":"0x1",)" + hash + "}]"},
        {"eth_getLogs", R"([ { "address" : "0x1" , "fromBlock":"0x64", "topics":[ ] } ])", bound,
         R"([ { "address" : "0x1" , "fromBlock":"0x64", "topics":[ ],"toBlock":"0x64" } ])",
         R"([ { "address" : "0x1", "topics":[ ],)" + hash + " } ]"},
        {"eth_getLogs", R"([{"toBlock":null}])", bound,
         R"([{"toBlock":"0x64","fromBlock":"0x64"}])", "[{" + hash + "}]"},
        {"eth_getLogs", R"([{"fromBlock":"0x10"}])", bound,
         R"([{"fromBlock":"0x10","toBlock":"0x64"}])", ""},
        {"eth_getLogs", R"([{"fromBlock":"earliest","toBlock":"latest"}])", bound,
         R"([{"fromBlock":"earliest","toBlock":"0x64"}])", ""},
        {"eth_getLogs", R"([{"toBlock":"0x10"}])", bound,
         R"([{"toBlock":"0x10","fromBlock":"0x64"}])", ""},
        {"eth_getLogs", R"([{"fromBlock":"LATEST","toBlock":""}])", bound,
         R"([{"fromBlock":"0x64","toBlock":"0x64"}])", "[{" + hash + "}]"},
        {"eth_getLogs", R"([{"from\u0042lock":"latest","toBlock":"latest"}])", bound,
         R"([{"from\u0042lock":"0x64","toBlock":"0x64"}])", "[{" + hash + "}]"},
        {"eth_getLogs", R"([{"fromBlock":"0x1","toBlock":"0x2"}])", none},
        {"eth_getLogs", R"([{"fromBlock":"0x1","toBlock":"pending"}])", none},
        {"eth_getLogs", R"([{"fromBlock":"pending","toBlock":"pending"}])", none},
        {"eth_getLogs", R"([{"fromBlock":"latest","toBlock":"pending"}])", unclear},
        {"eth_getLogs", R"([{"fromBlock":"pending"}])", unclear},
        {"eth_getLogs", R"([{"toBlock":"pending"}])", unclear},
        {"eth_getLogs", R"([{"fromBlock":"0x1","fromBlock":"latest"}])", unclear},
        {"eth_getLogs", R"([{"FromBlock":"latest","ToBlock":"latest"}])", unclear},
        {"eth_getLogs", "[{\"blockHash\":" + kOther + ",\"address\":[]}]", none},
        {"eth_getLogs", "[{\"blockHash\":" + kOther + ",\"fromBlock\":null}]", none},
        {"eth_getLogs", "[{\"blockHash\":" + kOther + ",\"fromBlock\":\"latest\"}]", unclear},
        {"eth_getLogs", "[{\"BlockHash\":" + kOther + "}]", unclear},
        {"eth_getLogs", R"([{"blockHash":"0x12"}])", unclear},
        {"eth_getLogs", "[]", unplaceable},
        {"eth_getLogs", "[null]", unplaceable},
        {"eth_getLogs", "", unplaceable},
        {"eth_getLogs", R"(["latest"])", unplaceable},
        {"eth_getLogs", R"({"fromBlock":"latest"})", unplaceable},
        {"trace_filter", R"([{"fromBlock":"latest"}])", bound,
         R"([{"fromBlock":"0x64","toBlock":"0x64"}])", ""},
        {"erigon_getLogs", "[{}]", bound, R"([{"fromBlock":"0x64","toBlock":"0x64"}])", ""},
    });
}
