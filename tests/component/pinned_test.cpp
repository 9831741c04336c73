// Which upstream serves a pinned request, and what it is asked.
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

// Without trials.
std::vector<std::string> bodies_with(const Pinned& f, std::string_view method) {
    std::vector<std::string> bodies;
    for (const Sent& message : f.transport.sent) {
        if (message.body.find(method) != message.body.npos && !is_trial(message)) {
            bodies.push_back(message.body);
        }
    }
    return bodies;
}

}  // namespace

TEST_CASE(
    "of a wrong chain with a higher head, a lagging upstream and a usable one, the last serves") {
    Pinned f({node(120, "w"), node(60, "b"), node(100)});
    f.pools[0]->observe_chain_id(0, 5, f.clock.now());
    f.transport.sent.clear();
    for (const char* wanted : {"latest", "0x64"}) {
        INFO(wanted);
        const RecordingSink sink = f.ask_at(wanted, batch({balance("1"), contract("2")}));
        CHECK(sink.head.block == reference(100));
        CHECK(result_at(sink.body, 0) == value(100));
        CHECK(result_at(sink.body, 1) == value(100));
    }
    CHECK(f.transport.count(0) == 0);
    CHECK(f.transport.count(1) == 0);
}

TEST_CASE("a block that nobody has is not served from another one") {
    Pinned f({node(100), node(100)});
    const std::string stranger = block_hash("zz", 90);
    for (const std::string& wanted :
         {stranger, "90;" + stranger, std::string("0x1f4"), "101;" + block_hash("a", 101)}) {
        INFO(wanted);
        const RecordingSink sink = f.ask_at(wanted, balance("7"));
        CHECK(sink.head.status == 200);
        CHECK(has_type(sink.body, "snapshot_unavailable"));
        CHECK(sink.body.find(R"("id":7)") != sink.body.npos);
        CHECK(sink.body.find("-32051") != sink.body.npos);
        CHECK(reason_of(sink.body) == (wanted.starts_with("90;") ? "reorganised" : "unknown"));
    }
    CHECK(bodies_with(f, "eth_getBalance").empty());
}

TEST_CASE("reads go by hash, and what stands beside the block stays as it was") {
    Pinned f({node(100)});
    const RecordingSink sink = f.ask_at(
        "latest", call("1", "eth_call", R"([ {"to" : "0x02","x":1.50} , "latest" ,{"0x03":{}}])"));
    CHECK(result_of_one(sink.body) == value(100));
    const auto bodies = bodies_with(f, "eth_call");
    REQUIRE(bodies.size() == 1);
    CHECK(jsonrpc::member(bodies[0], "params") ==
          R"([ {"to" : "0x02","x":1.50} , {"blockHash":")" + block_hash("a", 100) +
              R"(","requireCanonical":true} ,{"0x03":{}}])");
}

TEST_CASE("a provider dies after the first read: the second comes from one that has the block") {
    Pinned f(make_config(3), {node(100), node(100, "c"), node(100)});  // tiers fix the order
    f.before = [&](std::size_t i, const Sent& message) -> std::optional<Reaction> {
        if (i == 0 && message.body.find("eth_call") != message.body.npos) {
            f.nodes[0].dead = true;
        }
        return std::nullopt;
    };
    const RecordingSink first = f.ask_at("latest", balance("1"));
    REQUIRE(result_of_one(first.body) == value(100));
    const RecordingSink second = f.ask_at(first.head.block, contract("2"));
    CHECK(f.nodes[0].dead);
    CHECK(second.head.block == first.head.block);
    CHECK(result_of_one(second.body) == value(100));
    for (const std::string& body : bodies_with(f, "eth_call")) {
        CHECK(body.find(block_hash("a", 100)) != body.npos);
    }
}

TEST_CASE(
    "an upstream without EIP-1898 is asked by number, with its hash checked before and after") {
    Pinned f({node(100)});
    f.nodes[0].hashes = Hashes::refused;
    const RecordingSink sink = f.ask_at("latest", balance("1"));
    CHECK(result_of_one(sink.body) == value(100));
    f.transport.sent.clear();
    f.ask_at(sink.head.block, balance("1"));
    REQUIRE(f.transport.sent.size() == 3);  // what was learned holds
    CHECK(f.transport.sent[0].body.find("eth_getBlockByNumber") != std::string::npos);
    CHECK(f.transport.sent[1].body.find(R"("0x64")") != std::string::npos);
    CHECK(f.transport.sent[2].body.find("eth_getBlockByNumber") != std::string::npos);
}

TEST_CASE("what is asked about a block is spent for the client, and counted once") {
    Pinned f({node(100)});
    f.nodes[0].hashes = Hashes::refused;
    const auto units = [&](std::string_view family) {
        telemetry::Gauges gauges;
        telemetry::Gauges::Chain& chain = gauges.chains.emplace_back();
        chain.name = "test";
        chain.upstreams.push_back(
            {.name = "u0",
             .state = {},
             .probe_units = f.pools[0]->status(f.clock.now())[0].probe_units});
        const std::string page = f.metrics.render(gauges);
        const std::size_t line = page.find("\n" + std::string(family) + '{');
        return std::stoul(page.substr(page.find("} ", line) + 2));
    };
    const auto cost = [&](std::string_view method) {
        return f.pools[0]->units_of(0, routing::find_method(method));
    };
    const RecordingSink first = f.ask_at("latest", balance("1"));  // learns that hashes are refused
    const unsigned long client = units("weir_client_units_total");
    const unsigned long upstream = units("weir_upstream_units_total");
    CHECK(client == 3 * cost("eth_getBlockByNumber") + cost("eth_getBalance"));
    CHECK(upstream == client + cost("eth_getBalance"));  // the gateway's own question

    f.transport.sent.clear();
    f.ask_at(first.head.block, balance("1"));
    REQUIRE(f.transport.sent.size() == 3);  // the read, and its block before and after
    const unsigned long spent = 2 * cost("eth_getBlockByNumber") + cost("eth_getBalance");
    CHECK(units("weir_client_units_total") == client + spent);
    CHECK(units("weir_upstream_units_total") == upstream + spent);
}

TEST_CASE("what was read by number while the block went away is thrown away") {
    Pinned f({node(100), node(100)});
    f.nodes[0].hashes = f.nodes[1].hashes = Hashes::refused;
    bool done = false;
    std::size_t left = 0;
    f.before = [&](std::size_t i, const Sent& message) -> std::optional<Reaction> {
        if (!done && message.body.find("eth_getBalance") != message.body.npos &&
            message.body.find("blockHash") == message.body.npos) {
            done = true;
            left = i;
            f.nodes[i].reorganise("b", 99, 101);  // before it answers
        }
        return std::nullopt;
    };
    const RecordingSink sink = f.ask_at("latest", balance("1"));
    REQUIRE(done);
    CHECK(result_of_one(sink.body) == value(100));
    CHECK(f.transport.count(1 - left) > 0);
}

TEST_CASE("an upstream that does not look at the hash is asked by number") {
    Pinned f({node(100)});
    f.nodes[0].hashes = Hashes::ignored;
    const RecordingSink sink = f.ask_at(reference(90), balance("1"));
    CHECK(result_of_one(sink.body) == value(90));
}

TEST_CASE(
    "an upstream that ignores requireCanonical serves the block, not one that took its place") {
    Pinned f({node(100)});
    f.nodes[0].hashes = Hashes::orphans_too;
    const RecordingSink first = f.ask_at("latest", balance("1"));
    f.nodes[0].reorganise("b", 100, 101);
    f.poll();
    const RecordingSink sink = f.ask_at(first.head.block, balance("1"));
    const bool gone = has_type(sink.body, "snapshot_unavailable");
    CHECK((gone || result_of_one(sink.body) == value(100)));
}

TEST_CASE("state that is kept no more is asked of one that has it, and else named as pruned") {
    Pinned f(make_config(2), {node(100), node(100)});
    f.nodes[0].keeps_from = 50;
    CHECK(result_of_one(f.ask_at("0xa", balance("1")).body) == value(10));
    f.nodes[1].keeps_from = 50;
    const RecordingSink sink = f.ask_at("0xb", balance("1"));
    CHECK(reason_of(sink.body) == "pruned");
    CHECK(sink.body.find(R"("blockHash":")" + block_hash("a", 11)) != sink.body.npos);
    CHECK(sink.body.find(R"("blockNumber":"0xb")") != sink.body.npos);
}

TEST_CASE("a reorganisation in the middle starts a request for the latest block again, once") {
    Pinned f({node(100), node(100)});
    std::size_t reads = 0;
    f.before = [&](std::size_t, const Sent& message) -> std::optional<Reaction> {
        if (message.body.find("eth_call") != message.body.npos && ++reads == 1) {
            f.nodes[0].reorganise("b", 100, 101);
            f.nodes[1].reorganise("b", 100, 101);
        }
        return std::nullopt;
    };
    const std::string body = batch({balance("1"), contract("2"), call("3", "eth_blockNumber")});
    const RecordingSink sink = f.ask_at("latest", body);
    INFO(sink.body);
    CHECK(sink.head.block == reference(101, "b"));
    CHECK(result_at(sink.body, 0) == value(101, "b"));
    CHECK(result_at(sink.body, 1) == value(101, "b"));
    CHECK(result_at(sink.body, 2) == R"("0x65")");
    reads = 0;
    f.nodes[0].reorganise("a", 0, 100);
    f.nodes[1].reorganise("a", 0, 100);
    f.poll();
    const RecordingSink named = f.ask_at(reference(100), body);
    CHECK(reason_of(jsonrpc::element(named.body, 1)) == "reorganised");
    CHECK(named.head.block == reference(100));
}

TEST_CASE("an error in the middle of a batch is its item's alone") {
    Pinned f({node(100)});
    f.before = [](std::size_t, const Sent& message) -> std::optional<Reaction> {
        return message.body.find("eth_call") != message.body.npos
                   ? std::optional(rpc_error(3, "execution reverted: no"))
                   : std::nullopt;
    };
    const RecordingSink sink =
        f.ask_at("latest", batch({balance("1"), contract("2"), balance("3")}));
    CHECK(result_at(sink.body, 0) == value(100));
    CHECK(std::string(jsonrpc::element(sink.body, 1)).find("execution reverted: no") !=
          std::string::npos);
    CHECK(result_at(sink.body, 2) == value(100));
    CHECK(sink.head.status == 200);
}

TEST_CASE("the reads of a batch go by hash in one array") {
    Pinned f({node(100), node(100)});
    f.ask_at("latest", batch({balance("1"), contract("2")}));  // who takes hashes is known by now
    f.transport.sent.clear();
    std::vector<std::string> reads;
    for (int i = 0; i < 20; ++i) {
        reads.push_back(
            i % 2 == 0 ? balance(std::to_string(i))
                       : call(std::to_string(i), "eth_getBlockByNumber", R"(["latest",false])"));
    }
    const RecordingSink sink = f.ask_at(reference(100), batch(reads));
    for (std::size_t i = 0; i < reads.size(); i += 2) {
        CHECK(result_at(sink.body, i) == value(100));
        CHECK(jsonrpc::member(result_at(sink.body, i + 1), "hash") ==
              '"' + block_hash("a", 100) + '"');
    }
    std::size_t arrays = 0;
    for (const Sent& message : f.transport.sent) {
        arrays += message.body.starts_with('[') ? 1 : 0;
        CHECK(message.body.find("latest") == std::string::npos);
    }
    CHECK(arrays == 1);
    CHECK(f.transport.sent.size() <= 3);  // the other one may not have been asked for hashes yet
}

TEST_CASE("what an upstream refuses by hash in an array is asked alone, by number") {
    Pinned f({node(100)});
    f.ask_at("latest", balance("1"));  // it heeds hashes as far as is known
    f.before = [](std::size_t, const Sent& message) -> std::optional<Reaction> {
        const bool refused = message.body.find("eth_call") != message.body.npos &&
                             message.body.find("blockHash") != message.body.npos;
        return refused ? std::optional(rpc_error(-32602, "invalid block")) : std::nullopt;
    };
    const RecordingSink sink =
        f.ask_at(reference(100), batch({balance("1"), contract("2"), balance("3")}));
    INFO(sink.body);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(result_at(sink.body, i) == value(100));
    }
    bool by_number = false;
    for (const std::string& body : bodies_with(f, "eth_call")) {
        by_number = by_number || body.find(R"("0x64")") != body.npos;
    }
    CHECK(by_number);
}

TEST_CASE("an array to an upstream that lost the block is served by another one") {
    Pinned f({node(100), node(100)});
    f.ask_at("latest", batch({balance("1"), contract("2")}));
    bool done = false;
    f.before = [&](std::size_t i, const Sent&) -> std::optional<Reaction> {
        if (!done) {
            done = true;
            f.nodes[i].reorganise("b", 100, 101);
        }
        return std::nullopt;
    };
    const RecordingSink sink =
        f.ask_at(reference(100), batch({balance("1"), contract("2"), balance("3")}));
    REQUIRE(done);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(result_at(sink.body, i) == value(100));
    }
}

TEST_CASE("calls that name another block keep it, and what is pending is left alone") {
    Pinned f({node(100)});
    const RecordingSink sink = f.ask_at(
        "0x5a", batch({balance("1", R"("0x10")"), balance("2", R"("pending")"), balance("3"),
                       call("4", "eth_getBalance", R"(["0x01"])"), call("5", "eth_gasPrice"),
                       call("6", "eth_chainId"), balance("7", R"("0x5a")")}));
    CHECK(result_at(sink.body, 0) == value(16));
    CHECK(result_at(sink.body, 1) == value(100));
    CHECK(result_at(sink.body, 2) == value(90));
    CHECK(result_at(sink.body, 3) == value(90));
    CHECK(result_at(sink.body, 4) == "\"anything\"");
    CHECK(result_at(sink.body, 5) == R"("0x1")");
    CHECK(result_at(sink.body, 6) == value(90));
}

TEST_CASE("optional calls may be answered from the latest block, all others never") {
    Pinned f({node(100)});
    f.nodes[0].keeps_from = 50;
    const RecordingSink sink = f.ask_at("0xa", batch({balance("1"), balance("2")}), "1");
    CHECK(reason_of(jsonrpc::element(sink.body, 0)) == "pruned");
    CHECK(result_at(sink.body, 1) == value(100));
    CHECK(f.ask_at("0xa", batch({balance("1")}), "1").head.status == 400);
}

TEST_CASE("batch.pin_block pins every batch") {
    config::Config config = equals(2);
    config.chains[0].batch.pin_block = true;
    Pinned f(config, {node(100), node(102)});
    const RecordingSink sink =
        f.ask(batch({balance("1"), contract("2"), call("3", "eth_blockNumber")}));
    CHECK(sink.head.block == reference(100));
    CHECK(result_at(sink.body, 0) == value(100));
    CHECK(result_at(sink.body, 1) == value(100));
    CHECK(result_at(sink.body, 2) == R"("0x64")");
    CHECK(f.ask(balance("1")).head.block.empty());
}

TEST_CASE("safe and finalized are what is believed of all, or what one says before that is known") {
    Pinned f({node(100), node(100)});
    CHECK(f.ask_at("finalized", balance("1")).head.block == reference(0));
    const core::TimePoint now = f.clock.now();
    for (std::size_t i = 0; i < 2; ++i) {
        f.pools[0]->observe_tag(i, chain::Tag::finalized,
                                chain::BlockId{90 + i, block_hash("a", 90 + i)}, now);
    }
    const RecordingSink sink = f.ask_at("finalized", balance("1"));
    CHECK(sink.head.block == reference(90));
    CHECK(result_of_one(sink.body) == value(90));
}

TEST_CASE("a pinned latest never goes back while the chain does not") {
    Pinned f({node(101), node(101)});
    CHECK(f.ask_at("latest", call("1", "eth_blockNumber")).head.block == reference(101));
    const auto stays = [&f] {
        for (int i = 0; i < 3; ++i) {
            f.poll();
            const RecordingSink sink = f.ask_at("latest", call("1", "eth_blockNumber"));
            CHECK(sink.head.block == reference(101));
            CHECK(result_of_one(sink.body) == R"("0x65")");
            CHECK(result_of_one(f.ask(call("1", "eth_blockNumber")).body) == R"("0x65")");
        }
    };
    f.nodes[1].chain.resize(100);  // another node of a cluster
    stays();
    f.nodes[0].chain.resize(101 - 2);  // all of them
    stays();
    for (Node& each : f.nodes) {
        each.chain.resize(99);
        each.grow("a", 101);
    }
    CHECK(result_of_one(f.ask_at("latest", balance("1")).body) == value(101));
    for (Node& each : f.nodes) {
        each.reorganise("b", 100, 100);
    }
    f.poll();
    CHECK(f.ask_at("latest", call("1", "eth_blockNumber")).head.block == reference(100, "b"));
    CHECK(result_of_one(f.ask(call("1", "eth_blockNumber")).body) == R"("0x64")");
}

TEST_CASE("a limit is told as a limit, for a single read and for a whole batch") {
    Pinned f({node(100)});
    f.before = [](std::size_t, const Sent&) -> std::optional<Reaction> {
        Reaction limited = rpc_error(-32005, "rate limit exceeded");
        limited.status = 429;
        limited.retry_after = "20";
        return limited;
    };
    for (const std::string& body : {balance("1"), batch({balance("1"), contract("2")})}) {
        const RecordingSink sink = f.ask_at("latest", body);
        INFO(sink.body);
        CHECK(sink.head.status == 429);
        CHECK(has_type(sink.body, "rate_limited"));
    }
}

TEST_CASE("a slow read by number is checked after it, however long it took") {
    config::Config config = equals(1);
    config.chains[0].timeouts.request = 200ms;
    config.chains[0].timeouts.slow_request = 5s;
    Pinned f(config, {node(100)});
    f.nodes[0].hashes = Hashes::refused;
    f.before = [&](std::size_t, const Sent& message) -> std::optional<Reaction> {
        if (message.body.find("eth_getProof") == message.body.npos ||
            message.body.find("blockHash") != message.body.npos) {
            return std::nullopt;
        }
        Reaction slow = result("\"late\"");
        slow.delay = 400ms;
        return slow;
    };
    const RecordingSink sink =
        f.ask_at("latest", call("1", "eth_getProof", R"(["0x01",[],"latest"])"));
    CHECK(result_of_one(sink.body) == "\"late\"");
}

TEST_CASE("what is down does not keep what the gateway knows, and a batch says what it lacks") {
    Pinned f({node(100)});
    f.nodes[0].dead = true;
    const RecordingSink sink = f.ask_at("latest", batch({call("1", "eth_chainId"), balance("2")}));
    CHECK(result_at(sink.body, 0) == R"("0x1")");
    CHECK(has_type(std::string(jsonrpc::element(sink.body, 1)), "snapshot_unavailable"));
    CHECK(reason_of(jsonrpc::element(sink.body, 1)) == "no_upstream");
}
