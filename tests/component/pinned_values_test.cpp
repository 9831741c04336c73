// What an upstream says is the block's, or it is not passed on: nodes that read tags, numbers and
// hashes in ways of their own, and clusters whose nodes differ.
#include "component/pinned_fixture.hpp"

#include <random>

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

TEST_CASE("behind one URL, nodes of two branches: by hash one block or none, never the other's") {
    Pinned f({node(100)});
    const Node a = node(100);
    Node b = node(100);
    b.reorganise("b", 100, 100);
    std::mt19937 random(7);
    f.before = [&](std::size_t, const Sent&) -> std::optional<Reaction> {
        f.nodes[0].chain = random() % 2 == 0 ? a.chain : b.chain;
        return std::nullopt;
    };
    std::size_t served = 0;
    for (int i = 0; i < 40; ++i) {
        const RecordingSink sink =
            f.ask_at(block_hash("a", 100),
                     batch({balance("1"), contract("2"),
                            call("3", "eth_getBlockByNumber", R"(["latest",false])")}));
        for (std::size_t item = 0; item < 2; ++item) {
            const std::string result = result_at(sink.body, item);
            served += result.empty() ? 0 : 1;
            CHECK((result.empty() || result == value(100)));
        }
        const std::string block = result_at(sink.body, 2);
        CHECK(
            (block.empty() || jsonrpc::member(block, "hash") == '"' + block_hash("a", 100) + '"'));
    }
    CHECK(served > 20);
}

TEST_CASE("null for a block that is known to be there is asked of another upstream") {
    for (const char* read : {"eth_getBlockReceipts", "eth_getBlockByNumber", "eth_getBalance"}) {
        INFO(read);
        const std::string body = std::string(read) == "eth_getBalance"
                                     ? balance("1")
                                     : call("1", read, R"(["latest",true])");
        const auto answers_null = [read](std::set<std::size_t> whom) {
            return [read, whom](std::size_t i, const Sent& message) -> std::optional<Reaction> {
                const bool read_itself = message.body.find(read) != message.body.npos &&
                                         message.body.find("false") == message.body.npos;
                const bool twin = message.body.find("eth_getBlockByHash") != message.body.npos &&
                                  message.body.find("true") != message.body.npos;
                return whom.contains(i) && (read_itself || twin) ? std::optional(result("null"))
                                                                 : std::nullopt;
            };
        };
        Pinned f({node(100), node(100)});
        f.before = answers_null({0});
        for (int i = 0; i < 10; ++i) {
            const RecordingSink sink = f.ask_at("latest", body);
            INFO(sink.body);
            CHECK(sink.body.find(block_hash("a", 100)) != sink.body.npos);
            CHECK_FALSE(has_type(sink.body, "snapshot_unavailable"));
            CHECK(result_of_one(sink.body) != "null");
        }
        f.before = answers_null({0, 1});
        CHECK(reason_of(f.ask_at("latest", body).body) == "unknown");
    }
}

TEST_CASE("null stays an answer where a block that is there can have it") {
    Pinned f({node(100)});
    f.before = [](std::size_t, const Sent& message) -> std::optional<Reaction> {
        return message.body.find("eth_getTransactionByBlock") != message.body.npos
                   ? std::optional(result("null"))
                   : std::nullopt;
    };
    const RecordingSink sink = f.ask_at(
        "latest", call("1", "eth_getTransactionByBlockNumberAndIndex", R"(["latest","0x7"])"));
    CHECK(result_of_one(sink.body) == "null");
}

TEST_CASE("logs of another block show that the filter's hash was overlooked") {
    Pinned f({node(100)});
    std::vector<std::string> asked;
    f.before = [&](std::size_t, const Sent& message) -> std::optional<Reaction> {
        if (message.body.find("eth_getLogs") == message.body.npos) {
            return std::nullopt;
        }
        asked.push_back(message.body);
        if (is_trial(message)) {
            return rpc_error(-32000, "unknown block");
        }
        const std::uint64_t number = message.body.find("blockHash") == message.body.npos ? 90 : 100;
        return result(R"([{"blockNumber":")" + core::to_quantity(number) + R"(","blockHash":")" +
                      block_hash("a", number) + R"("}])");
    };
    for (int i = 0; i < 3; ++i) {
        asked.clear();
        const RecordingSink sink = f.ask_at("0x5a", call("1", "eth_getLogs", "[{}]"));
        INFO(sink.body);
        CHECK(sink.body.find(block_hash("a", 90)) != sink.body.npos);
        CHECK(asked.size() == (i == 0 ? 4 : 1));  // it is remembered
    }
}

TEST_CASE("trust in hashes is each method's own, and of one answer only: no such block") {
    SECTION("one method overlooks the hash, another one does not") {
        Pinned f({node(100)});
        f.before = [&](std::size_t, const Sent& message) -> std::optional<Reaction> {
            const bool object = message.body.find("blockHash") != message.body.npos;
            return message.body.find("eth_call") != message.body.npos && object
                       ? std::optional(result(value(100)))
                       : std::nullopt;
        };
        const std::string reads = batch({balance("1"), contract("2")});
        for (int i = 0; i < 2; ++i) {
            const RecordingSink sink = f.ask_at(reference(90), reads);
            CHECK(result_at(sink.body, 0) == value(90));
            CHECK(result_at(sink.body, 1) == value(90));
        }
    }
    SECTION("a node overlooks hashes and says something else to the trial") {
        for (const Reaction& said :
             {result("null"), result("\"0x\""), rpc_error(-32000, "server error"),
              rpc_error(-32603, "Internal error"), rpc_error(-32601, "method not found"),
              rpc_error(-32001, "eth_getBalance is not available on your plan"),
              rpc_error(-32602, "zero address not allowed"), rpc_error(-32000, "request timed out"),
              rpc_error(-32000, "missing trie node 00")}) {
            INFO(said.body);
            Pinned f({node(100)});
            f.nodes[0].hashes = Hashes::ignored;
            f.before = [&](std::size_t, const Sent& message) {
                return is_trial(message) ? std::optional(said) : std::nullopt;
            };
            for (int i = 0; i < 2; ++i) {
                CHECK(result_of_one(f.ask_at(reference(90), balance("1")).body) == value(90));
            }
        }
    }
    SECTION("a node that overlooks hashes says so by chance, to either trial") {
        for (const std::size_t chance : {std::size_t{0}, std::size_t{1}}) {
            Pinned f({node(100)});
            f.nodes[0].hashes = Hashes::ignored;
            std::size_t trials = 0;
            f.before = [&](std::size_t, const Sent& message) {
                return is_trial(message) && trials++ == chance
                           ? std::optional(rpc_error(-32000, "header not found"))
                           : std::nullopt;
            };
            for (int i = 0; i < 3; ++i) {
                CHECK(result_of_one(f.ask_at(reference(90), balance("1")).body) == value(90));
            }
        }
    }
    SECTION("of two nodes behind one URL that answer in turn, one overlooks hashes") {
        for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
            Pinned f({node(100)});
            std::size_t asked = first;
            f.before = [&](std::size_t, const Sent&) -> std::optional<Reaction> {
                f.nodes[0].hashes = asked++ % 2 == 0 ? Hashes::taken : Hashes::ignored;
                return std::nullopt;
            };
            for (int i = 0; i < 10; ++i) {
                const RecordingSink sink =
                    f.ask_at(reference(90), batch({balance("1"), contract("2")}));
                CHECK(result_at(sink.body, 0) == value(90));
                CHECK(result_at(sink.body, 1) == value(90));
            }
        }
    }
    SECTION("a trial that brings no answer keeps the others of its batch from waiting, too") {
        Pinned f({node(100)});
        std::size_t trials = 0;
        f.before = [&](std::size_t, const Sent& message) -> std::optional<Reaction> {
            if (!is_trial(message)) {
                return std::nullopt;
            }
            ++trials;
            Reaction lost;
            lost.lost = true;
            return lost;
        };
        const RecordingSink sink = f.ask_at(
            reference(90), batch({balance("1"), contract("2"),
                                  call("3", "eth_getStorageAt", R"(["0x01","0x0","latest"])")}));
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(result_at(sink.body, i) == value(90));
        }
        CHECK(trials == 1);
    }
}

TEST_CASE("a node that lags for one answer is asked once more") {
    for (const std::string when : {"eth_getBlockBy", "eth_getBalance"}) {
        for (const std::string& wanted : {block_hash("a", 101), reference(101)}) {
            INFO(when << ' ' << wanted);
            Pinned f({node(100)});
            f.ask_at(reference(90), balance("1"));  // it takes hashes
            f.nodes[0].grow("a", 101);
            bool lagged = false;
            f.before = [&](std::size_t, const Sent& message) -> std::optional<Reaction> {
                if (lagged || message.body.find(when) == message.body.npos) {
                    return std::nullopt;
                }
                lagged = true;
                return when == "eth_getBalance" ? rpc_error(-32000, "header for hash not found")
                                                : result("null");
            };
            const RecordingSink sink = f.ask_at(wanted, balance("1"));
            INFO(sink.body);
            CHECK(lagged);
            CHECK(result_of_one(sink.body) == value(101));
        }
    }
}

TEST_CASE("of two nodes behind one URL that answer in turn, the one that has the block serves") {
    Pinned f({node(100)});
    f.ask_at(reference(90), balance("1"));  // it takes hashes
    for (int first = 0; first < 2; ++first) {
        std::size_t asked = first;
        f.before = [&](std::size_t, const Sent&) -> std::optional<Reaction> {
            f.nodes[0].chain.resize(100);
            f.nodes[0].grow("a", asked++ % 2 == 0 ? 101 : 102);
            return std::nullopt;
        };
        for (int i = 0; i < 5; ++i) {
            const RecordingSink sink = f.ask_at(block_hash("a", 102), balance("1"));
            INFO(sink.body);
            CHECK(result_of_one(sink.body) == value(102));
        }
    }
}

TEST_CASE("a call that is refused for its own sake is asked once") {
    Pinned f({node(100)});
    f.ask_at(reference(100), balance("1"));
    f.before = [](std::size_t, const Sent& message) -> std::optional<Reaction> {
        return message.body.find("eth_getBalance") != message.body.npos
                   ? std::optional(rpc_error(-32602, "invalid argument 0: bad address"))
                   : std::nullopt;
    };
    f.transport.sent.clear();
    const RecordingSink sink = f.ask_at(reference(100), balance("1"));
    CHECK(sink.body.find("bad address") != sink.body.npos);
    CHECK(f.transport.sent.size() == 1);
}
