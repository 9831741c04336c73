// What a pinned request believes of its client, and what it does not ask of anybody.
#include "component/pinned_fixture.hpp"

using namespace weir;
using namespace weir::test;
using Hashes = Node::Hashes;

namespace {

std::string reference(std::uint64_t number, std::uint64_t of_hash) {
    return std::to_string(number) + ';' + block_hash("a", of_hash);
}
std::string value(std::uint64_t number) { return Pinned::value_of(block_hash("a", number)); }
std::string notification(std::string_view method, std::string_view params = "[]") {
    return R"({"jsonrpc":"2.0","method":")" + std::string(method) + R"(","params":)" +
           std::string(params) + '}';
}

bool was_sent(const Pinned& f, std::string_view word) {
    return std::any_of(f.transport.sent.begin(), f.transport.sent.end(), [&](const Sent& message) {
        return message.body.find(word) != message.body.npos;
    });
}

}  // namespace

TEST_CASE("the number of a hash is what upstreams say of it, not what a client does") {
    const std::string both = batch({call("1", "eth_blockNumber"), balance("2")});
    for (const bool seen : {false, true}) {
        for (const std::uint64_t number : {std::uint64_t{5}, std::uint64_t{99}}) {
            INFO(seen << ' ' << number);
            Pinned f({node(100), node(100)});
            if (seen) {
                f.ask_at(block_hash("a", 30), both);
            }
            for (const std::string& body :
                 {both, batch({call("1", "eth_blockNumber"), call("2", "eth_blockNumber")})}) {
                const RecordingSink sink = f.ask_at(reference(number, 30), body);
                INFO(sink.body);
                CHECK(sink.head.block.empty());
                CHECK(reason_of(jsonrpc::element(sink.body, 0)) == "reorganised");
                CHECK(reason_of(jsonrpc::element(sink.body, 1)) == "reorganised");
            }
            const RecordingSink alone =
                f.ask_at(reference(number, 30), call("1", "eth_blockNumber"));
            CHECK(reason_of(alone.body) == "reorganised");
            CHECK(alone.head.block.empty());
            const RecordingSink honest = f.ask_at(reference(30, 30), both);
            CHECK(honest.head.block == reference(30, 30));
            CHECK(result_at(honest.body, 0) == R"("0x1e")");
            CHECK(result_at(honest.body, 1) == value(30));
        }
    }
}

TEST_CASE("a node that answers with another block than it was asked for is not believed") {
    Pinned f({node(100)});
    f.before = [](std::size_t, const Sent& message) -> std::optional<Reaction> {
        const bool of_a_block = message.body.find("eth_getBlockBy") != message.body.npos;
        return of_a_block ? std::optional(result(R"({"number":"0x64","hash":")" +
                                                 block_hash("a", 100) + R"("})"))
                          : std::nullopt;
    };
    for (const std::string& wanted :
         {std::string("0x69"), std::string("0x5"), block_hash("a", 5)}) {
        INFO(wanted);
        const RecordingSink sink = f.ask_at(wanted, balance("1"));
        CHECK(reason_of(sink.body) == "unknown");
        CHECK(sink.head.block.empty());
    }
}

TEST_CASE("a block's number is not told on a client's word while nobody answers") {
    Pinned f({node(100)});
    f.nodes[0].dead = true;
    const RecordingSink sink = f.ask_at(reference(30, 30), call("1", "eth_blockNumber"));
    CHECK(reason_of(sink.body) == "no_upstream");
    CHECK(sink.head.block.empty());
}

TEST_CASE("a false number for a hash teaches nothing about what state an upstream keeps") {
    Pinned f(make_config(2), {node(100), node(100)});  // tiers fix the order
    f.nodes[0].keeps_from = 90;
    f.ask_at(block_hash("a", 50), call("1", "eth_getBlockByNumber", R"(["latest",false])"));
    for (int i = 0; i < 12; ++i) {
        const std::string params = R"(["0x0)" + std::to_string(i) + R"(","latest"])";
        f.ask_at(reference(99, 50), call("1", "eth_getBalance", params));
    }
    f.transport.sent.clear();
    for (int i = 0; i < 12; ++i) {
        f.ask(call("1", "eth_getBalance", R"(["0x0)" + std::to_string(i) + R"(","0x5f"])"));
    }
    CHECK(f.transport.count(1) == 0);
}

TEST_CASE("a batch of notifications is 204, and nothing is asked for it") {
    for (const bool by_default : {false, true}) {
        config::Config config = equals(1);
        config.chains[0].batch.pin_block = by_default;
        Pinned f(config, {node(100)});
        const std::vector<std::string> silent{
            notification("eth_getBalance", R"(["0x01"])"), notification("eth_blockNumber"),
            notification("eth_newFilter", "[{}]"), notification("eth_sendRawTransaction", "[]"),
            notification("eth_getBalance")};
        for (std::size_t most = 1; most <= silent.size(); ++most) {
            for (std::size_t first = 0; first + most <= silent.size(); ++first) {
                std::string body =
                    batch({silent.begin() + static_cast<std::ptrdiff_t>(first),
                           silent.begin() + static_cast<std::ptrdiff_t>(first + most)});
                INFO(body);
                const RecordingSink sink = by_default ? f.ask(body) : f.ask_at("latest", body);
                CHECK(sink.head.status == 204);
                CHECK(sink.body.empty());
            }
        }
        CHECK(f.transport.sent.empty());
        const RecordingSink alone =
            f.ask_at("latest", notification("eth_sendRawTransaction", "[]"));
        CHECK(alone.head.status == 400);
        CHECK(has_type(alone.body, "invalid_request"));
        const RecordingSink one_owed = f.ask_at(
            "latest", batch({notification("eth_getBalance", R"(["0x01"])"), balance("7")}));
        CHECK(result_at(one_owed.body, 0) == value(100));
        CHECK(jsonrpc::element_count(one_owed.body) == 1);
        CHECK(f.transport.sent.size() == 4);  // the block, who heeds hashes (twice), the read
    }
}

TEST_CASE("what reads no block does not wait for one") {
    Pinned f({node(100), node(100)});
    f.before = [](std::size_t, const Sent& message) -> std::optional<Reaction> {
        if (message.body.find("eth_gasPrice") != message.body.npos) {
            return std::nullopt;
        }
        Reaction hangs;
        hangs.hangs = true;
        return hangs;
    };
    const std::vector<std::string> unbound{
        call("1", "eth_chainId"), call("2", "net_listening"), call("3", "eth_gasPrice"),
        call("4", "eth_getBalance"),  // no place for a block: refused
        call("5", "eth_getTransactionByHash", "[]")};
    for (const std::string& wanted : {std::string("latest"), std::string("safe"),
                                      std::string("0x5a"), block_hash("a", 90), reference(5, 90)}) {
        INFO(wanted);
        f.transport.sent.clear();
        for (std::size_t i = 0; i < 4; ++i) {
            const RecordingSink sink = f.ask_at(wanted, unbound[i]);
            CHECK(sink.head.block.empty());
            CHECK(result_of_one(sink.body).empty() == (i == 3));
        }
        const RecordingSink sink =
            f.ask_at(wanted, batch({unbound[0], unbound[1], unbound[2], unbound[3]}));
        CHECK(result_at(sink.body, 0) == R"("0x1")");
        CHECK(has_type(std::string(jsonrpc::element(sink.body, 3)), "invalid_request"));
        CHECK_FALSE(was_sent(f, "eth_getBlock"));
        CHECK(f.transport.sent.size() == 2);  // the gas price, twice
    }
}

TEST_CASE("a transaction does not wait for the block of the reads beside it") {
    Pinned f({node(100), node(100)});
    f.before = [](std::size_t, const Sent& message) -> std::optional<Reaction> {
        if (message.body.find("eth_sendTransaction") != message.body.npos) {
            return result("\"0x1\"");
        }
        Reaction hangs;
        hangs.hangs = true;
        return hangs;
    };
    const RecordingSink sink = f.ask_at(
        "0x5a",
        batch({balance("1"), call("2", "eth_sendTransaction", "[{}]"), call("3", "eth_chainId")}));
    INFO(sink.body);
    CHECK(has_type(std::string(jsonrpc::element(sink.body, 0)), "deadline"));
    CHECK(result_at(sink.body, 1) == "\"0x1\"");
    CHECK(result_at(sink.body, 2) == "\"0x1\"");
}

TEST_CASE("every message that was sent is told of, those that came to nothing too") {
    for (const auto hashes : {Hashes::taken, Hashes::refused, Hashes::ignored}) {
        for (const char* refused : {"", "eth_getBalance", "eth_getBlockByHash"}) {
            INFO(refused);
            Pinned f({node(100), node(100)});
            f.nodes[0].hashes = f.nodes[1].hashes = hashes;
            f.before = [&](std::size_t, const Sent& message) -> std::optional<Reaction> {
                const bool by_hash = message.body.find("eth_getBlockByHash") != message.body.npos ||
                                     message.body.find("blockHash") != message.body.npos;
                return by_hash && *refused != 0 && message.body.find(refused) != message.body.npos
                           ? std::optional(rpc_error(-32602, "invalid params"))
                           : std::nullopt;
            };
            const std::string block = call("1", "eth_getBlockByNumber", R"(["latest",false])");
            for (const std::string& body :
                 {balance("1"), block, call("1", "eth_blockNumber"), batch({balance("1")})}) {
                for (const std::string& wanted :
                     {std::string("latest"), std::string("0x5a"), reference(80, 80)}) {
                    f.transport.sent.clear();
                    const RecordingSink sink = f.ask_at(wanted, body);
                    INFO(wanted << ' ' << body << ' ' << sink.body);
                    CHECK(sink.body.find("error") == std::string::npos);
                    CHECK(sink.head.attempts == f.transport.sent.size());
                }
            }
        }
    }
}

TEST_CASE("a block is read by its hash where the lists deny it by number alone") {
    for (const bool by_hash : {true, false}) {
        for (const bool alone : {true, false}) {
            INFO(by_hash << ' ' << alone);
            config::Config config = equals(1);
            config.chains[0].upstreams[0].methods.deny = {"eth_getBlockByNumber"};
            Pinned f(config, {node(100)});
            f.before = [&](std::size_t, const Sent& message) -> std::optional<Reaction> {
                const bool refused = message.body.find("eth_getBlockByHash") != message.body.npos;
                return refused && !by_hash ? std::optional(rpc_error(-32601, "no such method"))
                                           : std::nullopt;
            };
            const std::string block = call("1", "eth_getBlockByNumber", R"(["latest", false])");
            const RecordingSink sink = f.ask_at("latest", alone ? block : batch({block, block}));
            const std::string first(alone ? sink.body : jsonrpc::element(sink.body, 0));
            INFO(sink.body);
            CHECK((first.find(block_hash("a", 100)) != first.npos &&
                   !result_of_one(first).empty()) == by_hash);
            CHECK(has_type(f.ask(block).body, "no_upstream"));
            CHECK_FALSE(was_sent(f, R"(["latest", false])"));
            CHECK_FALSE(was_sent(f, R"(["0x64", false])"));
        }
    }
}

TEST_CASE("an upstream is not sent what its lists deny, whatever a pinned call becomes") {
    for (const std::string& denied :
         {std::string("eth_getBlockByHash"), std::string("eth_getCode"), std::string("*")}) {
        INFO(denied);
        config::Config config = equals(2);
        if (denied == "*") {
            config.chains[0].upstreams[0].methods.allow = {"eth_getBalance",
                                                           "eth_getBlockByNumber"};
        } else {
            config.chains[0].upstreams[0].methods.deny = {denied};
        }
        Pinned f(config, {node(100), node(100)});
        const std::string block = call("1", "eth_getBlockByNumber", R"(["latest",false])");
        for (const bool alone : {false, true}) {
            f.nodes[1].dead = alone;
            for (const std::string& wanted :
                 {std::string("latest"), std::string("0x5a"), reference(90, 90)}) {
                INFO(wanted);
                const RecordingSink sink =
                    f.ask_at(wanted, batch({block, balance("2"), block, balance("3")}));
                const std::uint64_t number = wanted == "latest" ? 100 : 90;
                CHECK(jsonrpc::member(result_at(sink.body, 0), "hash") ==
                      '"' + block_hash("a", number) + '"');
                CHECK(result_at(sink.body, 1) == value(number));
                CHECK(f.ask_at(wanted, balance("1")).head.block == sink.head.block);
            }
            const RecordingSink sink =
                f.ask_at(block_hash("a", 40 + (alone ? 1 : 0)), balance("1"));
            INFO(alone << " " << sink.body);
            CHECK((alone && denied != "eth_getCode" ? reason_of(sink.body) == "no_upstream"
                                                    : !result_of_one(sink.body).empty()));
        }
        for (const Sent& message : f.transport.sent) {
            if (message.upstream == 0) {
                const bool by_hash = message.body.find("eth_getBlockByHash") != message.body.npos;
                const bool code = message.body.find("eth_getCode") != message.body.npos;
                CHECK_FALSE((by_hash && denied != "eth_getCode"));
                CHECK_FALSE((code && denied != "eth_getBlockByHash"));
            }
        }
    }
}
