// Who serves which block, and what heads clients are told, over scripted upstreams.
#include "component/handler_fixture.hpp"
#include "core/hex.hpp"
#include "jsonrpc/value.hpp"

#include <map>

using namespace weir;
using namespace weir::test;
using routing::UpstreamState;

namespace {

config::Config pool_of(std::size_t upstreams) {
    config::Config config = make_config(upstreams);
    config.chains[0].timeouts.attempt = 1s;
    for (config::Upstream& upstream : config.chains[0].upstreams) {
        upstream.tier = 0;
    }
    return config;
}

std::string hash_of(std::uint64_t number) {
    std::string digits = std::to_string(number);
    return "0x" + std::string(64 - digits.size(), '0') + digits;
}

// Nodes with heads of their own, which they show to polls and to clients alike.
struct Chain : Fixture {
    explicit Chain(std::vector<std::uint64_t> heads)
        : Chain(pool_of(heads.size()), std::move(heads)) {}
    Chain(config::Config settings, std::vector<std::uint64_t> the_heads)
        : Fixture(std::move(settings)), heads(std::move(the_heads)) {
        for (std::size_t i = 0; i < heads.size(); ++i) {
            transport.on(i, [this, i](const Sent& message) { return reply(i, message.body); });
        }
        poll();
    }

    Reaction reply(std::size_t i, const std::string& body) {
        const std::string number = core::to_quantity(heads[i]);
        const auto method = jsonrpc::plain_string(jsonrpc::member(body, "method")).value_or("");
        if (method == "eth_blockNumber") {
            return result('"' + number + '"');
        }
        if (method == "eth_getBlockByNumber" && body.find("latest") != body.npos) {
            return result(R"({"number":")" + number + R"(","hash":")" + hash_of(heads[i]) +
                          R"("})");
        }
        return result("\"from " + std::to_string(i) + '"');
    }

    void poll(std::size_t i, core::TimePoint at) {
        pools[0]->observe_head(i, {.latest = {heads[i], hash_of(heads[i])},
                                   .parent_hash = hash_of(heads[i] - 1),
                                   .timestamp = 0,
                                   .at = at});
    }
    void poll() {
        for (std::size_t i = 0; i < heads.size(); ++i) {
            poll(i, clock.now());
        }
    }
    UpstreamState state(std::size_t i) { return pools[0]->snapshots().get()->upstreams[i].state; }

    std::uint64_t block_number() {
        const RecordingSink sink = ask(call("1", "eth_blockNumber"));
        const auto text = jsonrpc::plain_string(jsonrpc::member(sink.body, "result"));
        INFO(sink.body);
        REQUIRE(text);
        return core::parse_quantity(*text).value_or(0);
    }
    std::uint64_t latest_block() {
        const RecordingSink sink = ask(call("1", "eth_getBlockByNumber", R"(["latest",false])"));
        const auto text =
            jsonrpc::plain_string(jsonrpc::member(jsonrpc::member(sink.body, "result"), "number"));
        INFO(sink.body);
        REQUIRE(text);
        return core::parse_quantity(*text).value_or(0);
    }

    std::vector<std::uint64_t> heads;
};

}  // namespace

TEST_CASE("a fast upstream on the wrong chain gets 0 of 20 calls, and is back after three checks") {
    Chain f({100, 100});
    f.pools[0]->observe_chain_id(0, 5, f.clock.now());
    for (int i = 0; i < 20; ++i) {
        CHECK(f.ask(call("1", "eth_gasPrice")).head.status == 200);
    }
    CHECK(f.transport.count(0) == 0);
    for (int check = 0; check < 3; ++check) {
        CHECK(f.state(0) == UpstreamState::wrong_chain);
        f.pools[0]->observe_chain_id(0, 1, f.clock.now());
    }
    CHECK(f.state(0) == UpstreamState::fit);
}

TEST_CASE("one that lags with success gets 0 of 20 head-sensitive calls and serves old blocks") {
    config::Config config = make_config(2);  // the lagging one is of the lower tier
    Chain f(config, {80, 100});
    CHECK(f.state(0) == UpstreamState::lagging);
    for (int i = 0; i < 5; ++i) {
        f.ask(call("1", "eth_call", R"([{"to":"0x1"},"latest"])"));
        f.ask(call("1", "eth_call", R"([{"to":"0x1"}])"));
        CHECK(f.block_number() == 100);
        CHECK(f.latest_block() == 100);
    }
    CHECK(f.transport.count(0) == 0);
    for (const char* params : {R"(["0x50",false])", R"([80,false])", R"(["earliest",false])"}) {
        const RecordingSink sink = f.ask(call("1", "eth_getBlockByNumber", params));
        CHECK(sink.body.find("from 0") != std::string::npos);
    }
    CHECK(f.transport.count(0) == 3);
}

TEST_CASE("logs up to a block that the lagging node lacks come from the other") {
    Chain f({99, 100});
    for (int i = 0; i < 10; ++i) {
        const RecordingSink sink =
            f.ask(call("1", "eth_getLogs", R"([{"fromBlock":"0x1","toBlock":"0x64"}])"));
        CHECK(sink.body.find("from 1") != std::string::npos);
    }
    std::map<routing::UpstreamIndex, int> served;
    for (int i = 0; i < 1000 && served.size() < 2; ++i) {  // the new one gets a trickle
        f.ask(call("1", "eth_getLogs", R"([{"fromBlock":"0x1","toBlock":"0x63"}])"));
        ++served[f.transport.sent.back().upstream];
    }
    CHECK(served.size() == 2);
}

TEST_CASE("a block newer than the last poll is not refused: the farthest node is asked") {
    Chain f({98, 100, 99});
    for (const char* number : {R"(["0x65",false])", R"(["0xffff",false])"}) {
        const RecordingSink sink = f.ask(call("1", "eth_getBlockByNumber", number));
        CHECK(sink.body.find("from 1") != std::string::npos);
    }
}

TEST_CASE("a head of +900,000 moves nobody") {
    const std::size_t upstreams = GENERATE(2U, 3U);
    const bool liar_first = GENERATE(true, false);
    Chain f(pool_of(upstreams), std::vector<std::uint64_t>(upstreams, 100));
    const std::size_t liar = liar_first ? 0 : upstreams - 1;
    f.heads[liar] += 900'000;
    for (int i = 0; i < 20; ++i) {
        if (i % 5 == 0) {
            f.poll(liar, f.clock.now());  // it does not always show itself to the polls first
        }
        CHECK(f.block_number() == 100);
        CHECK(f.latest_block() == 100);
    }
    CHECK(f.state(liar) == UpstreamState::lagging);
    CHECK(f.state(liar_first ? 1 : 0) == UpstreamState::fit);
    const auto evidence = f.pools[0]->disagreements();
    REQUIRE_FALSE(evidence.empty());
    CHECK(evidence.back().kind == chain::DisagreementKind::implausible_head);
    CHECK(evidence.back().upstream == liar);
}

TEST_CASE("where latest is older than a head told before, the block of that head is asked for") {
    for (const std::size_t nulls : {0U, 2U, 100U}) {
        INFO(nulls);
        Chain f({100, 100});
        std::size_t denied = 0;
        const auto node = [&](const Sent& message) {
            if (message.body.find("eth_blockNumber") != std::string::npos) {
                return result("\"0x65\"");
            }
            if (message.body.find("latest") != std::string::npos) {  // by another node of it
                return result(R"({"number":"0x64","hash":")" + hash_of(100) + R"("})");
            }
            CHECK(message.body.find(R"(["0x65",false])") != std::string::npos);
            return ++denied <= nulls
                       ? result("null")
                       : result(R"({"number":"0x65","hash":")" + hash_of(101) + R"("})");
        };
        f.transport.on(0, node);
        f.transport.on(1, node);
        CHECK(f.block_number() == 101);
        const std::size_t before = f.transport.sent.size();
        CHECK(f.latest_block() == (nulls == 100 ? 100 : 101));
        CHECK(f.transport.sent.size() - before == (nulls == 100 ? 4 : 2 + nulls));
        // Once it is known, it is given again without.
        CHECK(f.latest_block() == (nulls == 100 ? 100 : 101));
    }
}

TEST_CASE("a head that is no block number, or too large for one, is not given out") {
    for (const char* head : {R"("0x10000000000000000")", R"("0x")", R"("latest")", R"("0x3e8 ")",
                             R"("901000")", "1000", "null", "{}"}) {
        INFO(head);
        Chain f({100, 100});
        f.transport.on(1, [&](const Sent& message) {
            const bool number = message.body.find("eth_blockNumber") != std::string::npos;
            return result(number ? head : R"({"number":)" + std::string(head) + '}');
        });
        for (int i = 0; i < 10; ++i) {
            CHECK(f.block_number() == 100);
            CHECK(f.latest_block() == 100);
        }
    }
}

TEST_CASE("a liar that is identified first moves neither the head nor the floor for long") {
    config::Config config = pool_of(3);
    const core::TimePoint now = runtime::SystemClock().now();
    upstream::Pool pool(config.chains[0], now);
    const auto speak = [&pool](std::size_t i, std::uint64_t number, core::TimePoint at) {
        pool.observe_chain_id(i, 1, at);
        pool.observe_head(
            i, {.latest = {number, hash_of(number)}, .parent_hash = {}, .timestamp = 0, .at = at});
    };
    speak(0, 900'100, now + 5ms);
    CHECK(pool.snapshots().get()->provisional);
    CHECK(pool.snapshots().get()->head->number == 900'100);
    speak(1, 100, now + 500ms);
    CHECK(pool.snapshots().get()->head->number == 100);
    CHECK_FALSE(pool.snapshots().get()->provisional);
    speak(2, 100, now + 510ms);
    CHECK(pool.snapshots().get()->head->number == 100);
    CHECK(pool.snapshots().get()->upstreams[0].state == UpstreamState::lagging);
    CHECK(pool.snapshots().get()->upstreams[1].state == UpstreamState::fit);
    CHECK(pool.snapshots().get()->upstreams[2].state == UpstreamState::fit);
}

TEST_CASE("answers to clients move the heads that polls have shown") {
    const bool whole = GENERATE(true, false);
    Chain f({100, 100, 100});
    f.heads = {101, 101, 101};
    for (std::size_t asked = 0; asked < 3; ++asked) {
        for (std::size_t i = 0; i < 3; ++i) {
            i == asked ? f.pools[0]->resume(i, f.clock.now()) : f.pools[0]->drain(i, f.clock.now());
        }
        CHECK((whole ? f.latest_block() : f.block_number()) == 101);
    }
    const auto pool = f.pools[0]->snapshots().get();
    CHECK(pool->head->number == 101);
    CHECK(pool->head->hash == (whole ? hash_of(101) : ""));
    CHECK(pool->head_block->number == (whole ? 101 : 100));
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(pool->upstreams[i].head->number == 101);
        CHECK(f.pools[0]->head_seen(i)->whole == whole);
    }
}

TEST_CASE("answers of the only upstream move its head, from batches too") {
    Chain f(std::vector<std::uint64_t>{100});
    f.heads[0] = 101;
    f.block_number();
    CHECK(f.pools[0]->snapshots().get()->head->number == 101);
    f.heads[0] = 102;
    f.ask('[' + call("1", "eth_blockNumber") + ',' + call("2", "eth_gasPrice") + ']');
    CHECK(f.pools[0]->snapshots().get()->head->number == 102);
    f.heads[0] = 103;
    f.latest_block();
    CHECK(f.pools[0]->snapshots().get()->head_block->hash == hash_of(103));
}

TEST_CASE("what a lone early head told a client does not bind when others have spoken") {
    config::Config config = pool_of(2);
    Chain f(config, {100, 100});
    // A daemon that has just started: only the liar has answered so far.
    auto pool = std::make_shared<upstream::Pool>(f.config.chains[0], f.clock.now());
    f.heads = {900'100, 100};
    pool->observe_chain_id(0, 1, f.clock.now());
    f.pools[0] = std::move(pool);
    f.serve();
    f.poll(0, f.clock.now());
    CHECK(f.block_number() == 900'100);
    f.pools[0]->observe_chain_id(1, 1, f.clock.now());
    f.poll(1, f.clock.now());
    for (int i = 0; i < 10; ++i) {
        CHECK(f.block_number() == 100);
    }
}

TEST_CASE("40 eth_blockNumber over a pool at 101, 99 and 100 never decrease") {
    Chain f({101, 99, 100});
    std::uint64_t last = 0;
    for (int i = 0; i < 40; ++i) {
        if (i % 7 == 3) {
            f.poll(static_cast<std::size_t>(i) % 3, f.clock.now());
        }
        const std::uint64_t number = i % 2 == 0 ? f.block_number() : f.latest_block();
        CHECK(number >= last);
        last = number;
    }
    CHECK(last == 101);
}

TEST_CASE("other reads of latest go to the newest head that was given out") {
    Chain f({100, 100, 100});
    f.heads[2] = 101;  // no poll has seen it yet
    while (f.block_number() != 101) {
    }
    const std::size_t before = f.transport.sent.size();
    for (int i = 0; i < 20; ++i) {
        f.ask(call("1", "eth_getBalance", R"(["0x1","latest"])"));
    }
    for (std::size_t i = before; i < f.transport.sent.size(); ++i) {
        CHECK(f.transport.sent[i].upstream == 2);
    }
    // It is gone: the others serve.
    f.pools[0]->drain(2, f.clock.now());
    CHECK(f.ask(call("1", "eth_getBalance", R"(["0x1","latest"])")).head.status == 200);
}

TEST_CASE("a head that was given out is given again when nobody left has it") {
    Chain f({101, 100});
    while (f.latest_block() != 101) {  // either may be drawn while nothing was given out
    }
    f.pools[0]->drain(0, f.clock.now());
    CHECK(f.block_number() == 101);
    CHECK(f.latest_block() == 101);
    f.heads[1] = 102;
    CHECK(f.block_number() == 102);
    CHECK(f.latest_block() == 102);
}

TEST_CASE("a head that is told in place of older answers binds like any other") {
    Chain f({100, 100});
    const auto told = [&f] {
        return std::string(jsonrpc::member(f.ask(call("1", "eth_blockNumber")).body, "result"));
    };
    CHECK(told() == R"("0x64")");
    f.heads = {102, 102};
    f.poll();
    f.heads = {99, 99};
    CHECK(told() == R"("0x66")");  // as was seen
    f.heads = {101, 101};
    CHECK(told() == R"("0x66")");
    f.poll();
    CHECK(told() == R"("0x66")");
}

TEST_CASE("after the chain fell back older heads are given out at once") {
    Chain f({100, 100});
    CHECK(f.block_number() == 100);
    f.heads = {7, 7};
    f.poll();
    CHECK(f.block_number() == 7);
    CHECK(f.latest_block() == 7);
}

TEST_CASE("with one upstream no head rule refuses an answer") {
    Chain f(std::vector<std::uint64_t>{100});
    for (const std::uint64_t head : {100U, 900'000U, 3U, 0U, 12U}) {
        f.heads[0] = head;
        CHECK(f.block_number() == head);
        CHECK(f.latest_block() == head);
    }
}

TEST_CASE("a reorganisation of one block costs no exclusion, and is on record") {
    Chain f({100, 100, 100});
    f.pools[0]->observe_head(1, {.latest = {100, "0xother"},
                                 .parent_hash = hash_of(99),
                                 .timestamp = 0,
                                 .at = f.clock.now()});
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(f.state(i) == UpstreamState::fit);
    }
    REQUIRE_FALSE(f.pools[0]->disagreements().empty());
    CHECK(f.pools[0]->disagreements().back().kind == chain::DisagreementKind::reorg);
}

TEST_CASE("a 0.25 s chain polled every 3 s uses all its upstreams") {
    config::Config config = pool_of(3);
    config.chains[0].block_time = 250ms;
    Chain f(config, {100, 100, 100});
    const core::TimePoint now = f.clock.now();
    f.heads = {104, 108, 112};
    f.poll(0, now - 2s);
    f.poll(1, now - 1s);
    f.poll(2, now);
    f.heads = {112, 112, 112};
    std::map<routing::UpstreamIndex, int> served;
    for (int i = 0; i < 300; ++i) {
        f.ask(call("1", "eth_getBalance", R"(["0x1","latest"])"));
        ++served[f.transport.sent.back().upstream];
    }
    CHECK(served.size() == 3);
}

TEST_CASE("a pool where everybody says that it syncs still serves") {
    Chain f({100, 100});
    for (std::size_t i = 0; i < 2; ++i) {
        f.poll(i, f.clock.now() + 10min);
        f.pools[0]->tick(f.clock.now() + 10min);
    }
    CHECK(f.ask(call("1", "eth_getBalance", R"(["0x1","latest"])")).head.status == 200);
    CHECK(f.block_number() == 100);
}

TEST_CASE("reads of old state find the archive node, and learn the way") {
    config::Config config = make_config(2);
    Chain f(config, {1000, 1000});
    f.transport.on(0, rpc_error(-32000, "missing trie node 0xab (path ) state is not available"));
    const std::string old = call("1", "eth_getBalance", R"(["0x1","0x10"])");
    CHECK(f.ask(old).body.find("from 1") != std::string::npos);
    CHECK(f.transport.count(0) == 1);
    CHECK(f.ask(old).body.find("from 1") != std::string::npos);
    CHECK(f.ask(call("1", "eth_getBalance", R"(["0x1","0x9"])")).body.find("from 1") !=
          std::string::npos);
    CHECK(f.transport.count(0) == 1);
    f.transport.on(0, result("\"from 0\""));
    CHECK(f.ask(call("1", "eth_getBalance", R"(["0x1","0x3e0"])")).body.find("from 0") !=
          std::string::npos);
    // Blocks and logs are no state.
    CHECK(f.ask(call("1", "eth_getBlockByNumber", R"(["0x10",false])")).body.find("from 0") !=
          std::string::npos);
}

TEST_CASE("an operator says how far back an upstream's state reaches") {
    config::Config config = make_config(2);
    config.chains[0].upstreams[0].history = {.kind = config::History::Kind::blocks, .blocks = 128};
    Chain f(config, {1000, 1000});
    CHECK(f.ask(call("1", "eth_getBalance", R"(["0x1","0x10"])")).body.find("from 1") !=
          std::string::npos);
    CHECK(f.ask(call("1", "eth_getBalance", R"(["0x1","0x3e0"])")).body.find("from 0") !=
          std::string::npos);
}

TEST_CASE("a null receipt from a node that is behind is asked once more at one at the head") {
    config::Config config = make_config(3);
    Chain f(config, {99, 100, 100});
    f.transport.on(0, result("null"));
    CHECK(f.ask(call("1", "eth_getTransactionReceipt", R"(["0xab"])")).body.find("from 1") !=
          std::string::npos);
    f.transport.on(1, result("null"));
    const std::size_t before = f.transport.sent.size();
    const RecordingSink sink = f.ask(call("1", "eth_getTransactionReceipt", R"(["0xab"])"));
    CHECK(sink.body == R"({"jsonrpc":"2.0","id":1,"result":null})");
    CHECK(f.transport.sent.size() - before == 2);  // null from a node at the head is the answer
    f.poll(0, f.clock.now());
    f.heads[0] = 100;
    f.poll(0, f.clock.now());
    const std::size_t again = f.transport.sent.size();
    CHECK(f.ask(call("1", "eth_getTransactionByHash", R"(["0xab"])")).body.find("null") !=
          std::string::npos);
    CHECK(f.transport.sent.size() - again == 1);
}

TEST_CASE("an unknown block is asked once more elsewhere, and then the last node's error passes") {
    config::Config config = make_config(3);
    Chain f(config, {100, 100, 100});
    for (std::size_t i = 0; i < 3; ++i) {
        f.transport.on(i, rpc_error(-32000, "header not found"));
    }
    const std::string body = call("1", "eth_getBalance", R"(["0x1","0x50"])");
    const RecordingSink sink = f.ask(body);
    CHECK(sink.body.find("header not found") != std::string::npos);
    CHECK(f.transport.sent.size() == 2);
    f.transport.on(1, result("\"0x1\""));
    CHECK(f.ask(body).body.find("\"0x1\"") != std::string::npos);
}

TEST_CASE(
    "a hedge: a second upstream of the tier is asked early, and the loser counts not at all") {
    config::Config config = pool_of(3);
    config.chains[0].reads.hedge = {.kind = config::Hedge::Kind::after, .delay = 20ms};
    config.chains[0].upstreams[2].tier = 1;
    Chain f(config, {100, 100, 100});
    Reaction slow = result("\"slow\"");
    slow.delay = 900ms;
    f.transport.on(0, slow);
    f.transport.on(1, slow);
    const core::TimePoint began = f.clock.now();
    int first = 0;
    f.transport.on(
        0, [&first, slow](const Sent&) { return first++ == 0 ? slow : result("\"fast\""); });
    f.transport.on(
        1, [&first, slow](const Sent&) { return first++ == 0 ? slow : result("\"fast\""); });
    const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
    CHECK(sink.body.find("fast") != std::string::npos);
    CHECK(f.clock.now() - began < 800ms);
    CHECK(sink.head.attempts == 2);
    CHECK(f.transport.count(2) == 0);
    for (const upstream::UpstreamStatus& status : f.pools[0]->status(f.clock.now())) {
        CHECK(status.success_rate.value_or(1) == 1);
        CHECK(status.in_flight == 0);
    }
}

TEST_CASE("a hedge stays within its tier, and is off unless it was asked for") {
    config::Config config = make_config(2);  // tiers of their own
    const bool on = GENERATE(true, false);
    if (on) {
        config.chains[0].reads.hedge = {.kind = config::Hedge::Kind::after, .delay = 20ms};
    } else {
        config.chains[0].upstreams[1].tier = 0;
    }
    config.chains[0].timeouts.attempt = 1s;
    Chain f(config, {100, 100});
    Reaction slow = result("\"slow\"");
    slow.delay = 200ms;
    f.transport.on(0, slow);
    f.transport.on(1, slow);
    CHECK(f.ask(call("1", "eth_gasPrice")).head.attempts == 1);
}

TEST_CASE("a drained upstream gets no call, and calls again after it is resumed") {
    Chain f({100, 100});
    f.pools[0]->drain(0, f.clock.now());
    CHECK(f.state(0) == UpstreamState::drained);
    for (int i = 0; i < 10; ++i) {
        f.ask(call("1", "eth_gasPrice"));
        f.ask(call("1", "eth_sendRawTransaction", R"(["0x02"])"));
    }
    CHECK(f.transport.count(0) == 0);
    f.pools[0]->resume(0, f.clock.now());
    f.pools[0]->drain(1, f.clock.now());
    CHECK(f.ask(call("1", "eth_gasPrice")).head.status == 200);
    CHECK(f.transport.count(0) == 1);
    f.pools[0]->drain(0, f.clock.now());
    CHECK(has_type(f.ask(call("1", "eth_gasPrice")).body, "no_upstream"));
}

TEST_CASE(
    "a method that an upstream lacks goes to the others, and its refusals cost it nothing else") {
    config::Config config = make_config(2);
    Chain f(config, {100, 100});
    f.transport.on(0, [&f](const Sent& message) {
        return message.body.find("trace_block") != message.body.npos
                   ? rpc_error(-32601, "the method trace_block does not exist")
                   : f.reply(0, message.body);
    });
    for (const char* block : {R"(["0x1"])", R"(["0x2"])", R"(["0x3"])"}) {
        CHECK(f.ask(call("1", "trace_block", block)).body.find("from 1") != std::string::npos);
    }
    CHECK(f.transport.count(0) == 2);
    CHECK(f.ask(call("1", "eth_gasPrice")).body.find("from 0") != std::string::npos);
}
