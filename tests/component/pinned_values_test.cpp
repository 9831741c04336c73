// What an upstream says is the block's, or it is not passed on: nodes that read tags, numbers and
// hashes in ways of their own, and clusters whose nodes differ.
#include "component/pinned_fixture.hpp"

using namespace weir;
using namespace weir::test;
using Hashes = Node::Hashes;

namespace {

std::string reference(std::uint64_t number, std::string_view branch = "a") {
    return std::to_string(number) + ';' + block_hash(branch, number);
}
std::string value(std::uint64_t number, std::string_view branch = "a") {
    return Pinned::value_of(block_hash(branch, number));
}

}  // namespace

TEST_CASE("no spelling of a tag reaches an upstream that may take it for the newest block") {
    Pinned f({node(100)});
    const RecordingSink sink = f.ask_at(
        "0x5a", batch({balance("1", R"("LATEST")"), balance("2", R"({"blockNumber":"Latest"})"),
                       balance("3", R"("latst")"), balance("4", R"("Pending")"),
                       balance("5", R"({"blockNumber":"latest","blockHash":")" +
                                        block_hash("a", 89) + R"("})"),
                       call("6", "eth_getLogs", "[]"),
                       call("7", "eth_getLogs", R"([{"fromBlock":"latest","toBlock":"pending"}])"),
                       balance("8", R"("0x10")")}));
    INFO(sink.body);
    CHECK(result_at(sink.body, 0) == value(90));
    CHECK(result_at(sink.body, 1) == value(90));
    for (std::size_t i = 2; i < 7; ++i) {
        CHECK(has_type(std::string(jsonrpc::element(sink.body, i)), "invalid_request"));
    }
    CHECK(result_at(sink.body, 7) == value(16));
}

TEST_CASE("a node that answers with its newest block where it was asked for another has not it") {
    Pinned f({node(100), node(105)});
    f.before = [&](std::size_t i, const Sent& message) -> std::optional<Reaction> {
        const bool beyond = message.body.find(R"("0x69")") != message.body.npos;
        if (i == 0 && beyond && message.body.find("eth_getBlockByNumber") != message.body.npos) {
            return result(R"({"number":"0x64","hash":")" + block_hash("a", 100) + R"("})");
        }
        return std::nullopt;
    };
    const RecordingSink sink = f.ask_at("0x69", balance("1"));
    CHECK(sink.head.block == reference(105));
    CHECK(result_of_one(sink.body) == value(105));

    Pinned alone({node(100)});
    alone.before = [&](std::size_t, const Sent& message) -> std::optional<Reaction> {
        return message.body.find("eth_getBlockBy") != message.body.npos
                   ? std::optional(
                         result(R"({"number":"0x64","hash":")" + block_hash("a", 100) + R"("})"))
                   : std::nullopt;
    };
    for (const std::string& wanted : {std::string("0x69"), block_hash("a", 90)}) {
        const RecordingSink none = alone.ask_at(wanted, balance("1"));
        INFO(none.body);
        CHECK(none.head.block.empty());
        CHECK(reason_of(none.body) == "unknown");
    }
}
