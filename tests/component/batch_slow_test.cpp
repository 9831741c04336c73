// Arrays that are late, get lost or hold a null: what is asked elsewhere as well, and how often.
#include "component/batch_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

using namespace weir;
using namespace weir::test;

namespace {

bool is_array(const Sent& message) { return message.body.starts_with('['); }

ScriptedTransport::Script late(core::Duration delay, ScriptedTransport::Script then) {
    return [delay, then](const Sent& message) {
        Reaction reaction = then(message);
        reaction.delay = delay;
        return reaction;
    };
}

bool asks_for(const Sent& message, std::size_t address) {
    return message.body.find("[\"" + std::to_string(address) + "\",") != std::string::npos;
}

}  // namespace

TEST_CASE("a late array of the only upstream runs on, and its answers count") {
    Batches f(1);
    f.transport.on(0, late(400ms, balance));
    f.transport.on_array(0, late(400ms, good));
    const RecordingSink sink = f.ask(balances(20));
    f.check(sink, 20);
    CHECK(f.sizes() == std::vector<std::size_t>{20});
    CHECK(sink.head.attempts == 1);
    CHECK(f.pools[0]->status(f.clock.now())[0].success_rate == 1);
}

TEST_CASE("a late array is asked elsewhere as well: the first good answer wins") {
    Batches f(2);
    SECTION("all from elsewhere: the array is ended") {
        f.transport.on_array(0, hangs());
        const core::TimePoint begin = f.clock.now();
        f.check(f.ask(balances(20)), 20);
        CHECK(f.clock.now() - begin < 1s);
        CHECK(f.transport.count(0) == 1);
        CHECK(f.transport.count(1) == 20);
    }
    SECTION("some from elsewhere, the others from the array") {
        f.transport.on_array(0, late(400ms, good));
        f.transport.on(1, [](const Sent& message) {
            return asks_for(message, 3) || asks_for(message, 7) ? hangs() : balance(message);
        });
        const core::TimePoint begin = f.clock.now();
        f.check(f.ask(balances(20)), 20);
        CHECK(f.clock.now() - begin < 1s);
        CHECK(std::count_if(f.transport.sent.begin(), f.transport.sent.end(), is_array) == 1);
    }
    SECTION("nothing from elsewhere") {
        f.transport.on_array(0, late(700ms, good));
        f.transport.on(1, unavailable());
        f.check(f.ask(balances(5)), 5);
    }
}

TEST_CASE("a late array's answers do not wait for those who were about to ask again") {
    config::Config config = make_config(2);
    config.chains[0].timeouts.request = 5s;
    config.chains[0].reads.max_attempts = 8;
    Batches f(config);
    f.transport.on_array(0, late(900ms, good));
    f.transport.on(0, unavailable());
    f.transport.on(1, unavailable());
    const core::TimePoint begin = f.clock.now();
    f.check(f.ask(balances(5)), 5);
    CHECK(f.clock.now() - begin < 1150ms);
}

TEST_CASE("a call that holds its array up holds no other beyond its own deadline") {
    for (const std::size_t upstreams : {1U, 2U}) {
        DYNAMIC_SECTION(upstreams << " upstreams") {
            config::Config config = make_config(upstreams);
            config.chains[0].timeouts.request = 800ms;
            Batches f(config);
            const auto stuck = [](const Sent& message) {
                if (asks_for(message, 4)) {
                    return hangs();
                }
                return is_array(message) ? good(message) : balance(message);
            };
            for (std::size_t i = 0; i < upstreams; ++i) {
                f.transport.on(i, stuck);
                f.transport.on_array(i, stuck);
            }
            const core::TimePoint begin = f.clock.now();
            const RecordingSink sink = f.ask(balances(20));
            CHECK(f.clock.now() - begin < 1200ms);
            for (std::size_t i = 0; i < 20; ++i) {
                const std::string reply = item(sink.body, i);
                INFO(i << ": " << reply);
                CHECK((i == 4 ? type_of(reply) == "deadline"
                              : result_of(reply) == '"' + std::to_string(i) + " wei\""));
            }
        }
    }
}

TEST_CASE("calls of the slow class do not hold up those of the fast one") {
    config::Config config = make_config(2);
    config.chains[0].timeouts.request = 300ms;
    config.chains[0].timeouts.slow_request = 1s;
    Batches f(config);
    const auto script = [](const Sent& message) {
        return message.body.find("eth_getLogs") != std::string::npos ? hangs() : result("\"0x64\"");
    };
    f.transport.on(0, script);
    f.transport.on(1, script);
    std::string body = "[";
    for (int i = 0; i < 40; ++i) {
        body += call(std::to_string(i), "eth_getLogs", R"([{"fromBlock":"0x1"}])") + ',';
    }
    const RecordingSink sink = f.ask(body + call("40", "eth_blockNumber") + ']');
    CHECK(result_of(item(sink.body, 40)) == "\"0x64\"");
    CHECK(type_of(item(sink.body, 0)) == "deadline");
}

TEST_CASE("the arrays behind a late one do not wait for it") {
    for (const std::size_t upstreams : {1U, 2U}) {
        DYNAMIC_SECTION(upstreams << " upstreams") {
            Batches f(upstreams);
            f.transport.on_array(0, [first = true](const Sent& message) mutable {
                return std::exchange(first, false) ? late(1s, good)(message) : good(message);
            });
            const core::TimePoint begin = f.clock.now();
            f.check(f.ask(balances(300)), 300);
            CHECK(f.clock.now() - begin < 1500ms);
            CHECK(f.transport.count(0) <= 3);
        }
    }
}

TEST_CASE("a size that is refused behind a late array is found out all the same") {
    Batches f(1);
    const std::size_t most = 10;
    f.transport.on_array(0, [&, first = true](const Sent& message) mutable {
        return std::exchange(first, false)
                   ? hangs()
                   : limited_to(most, "too many RPC calls in batch request")(message);
    });
    f.check(f.ask(balances(300)), 300);
}

TEST_CASE("a late array's calls that fail elsewhere are counted") {
    config::Config config = make_config(2);
    config.chains[0].reads.max_attempts = 2;
    Batches f(config);
    f.transport.on_array(0, late(400ms, good));
    f.transport.on(1, unavailable());
    const RecordingSink sink = f.ask(balances(5));
    f.check(sink, 5);
    CHECK(sink.head.attempts == f.transport.sent.size());
    CHECK(sink.head.attempts == 6);
}

TEST_CASE("a null in an array from a node that is behind is asked for once more") {
    Batches f(2);
    const std::string hash = '"' + ("0x" + std::string(64, 'a')) + '"';
    const std::string body = '[' + call("1", "eth_getTransactionByHash", '[' + hash + ']') + ',' +
                             call("2", "eth_getTransactionReceipt", '[' + hash + ']') + ',' +
                             call("3", "eth_getBalance", R"(["3","latest"])") + ']';
    const auto answer = [](const Sent& message, const std::string& found) {
        const bool look_up = message.body.find("eth_getTransaction") != std::string::npos;
        Reaction reaction;
        reaction.body = R"({"jsonrpc":"2.0","id":)" + id_of(message.body) + R"(,"result":)" +
                        (look_up ? found : "\"3 wei\"") + '}';
        return reaction;
    };
    // The other one has a newer block by the time at which the array is answered.
    f.transport.on_array(0, [&](const Sent& message) {
        f.pools[0]->observe_head(
            1,
            {.latest = {101, "0xab"}, .parent_hash = "0xaa", .timestamp = 0, .at = f.clock.now()});
        std::vector<std::string> replies;
        for (std::size_t i = 0; i < jsonrpc::element_count(message.body); ++i) {
            Sent one = message;
            one.body = item(message.body, i);
            replies.push_back(answer(one, "null").body);
        }
        return array_of(replies);
    });
    std::string found = R"({"hash":"0xaa"})";
    SECTION("found there") {}
    SECTION("null there too") { found = "null"; }
    f.transport.on(1, [&](const Sent& message) { return answer(message, found); });
    const RecordingSink sink = f.ask(body);
    CHECK(result_of(item(sink.body, 0)) == found);
    CHECK(result_of(item(sink.body, 1)) == found);
    CHECK(result_of(item(sink.body, 2)) == "\"3 wei\"");
    CHECK(f.transport.count(0) == 1);
    CHECK(f.transport.count(1) == 2);
}

TEST_CASE("where nobody has a newer block, a null in an array is the answer") {
    Batches f(2);
    const std::string look_up = call("1", "eth_getTransactionByHash", R"(["0xaa"])");
    f.transport.on(0, result("null"));
    f.transport.on_array(0, [](const Sent& message) {
        std::vector<std::string> replies = replies_to(message);
        for (std::string& reply : replies) {
            reply = R"({"jsonrpc":"2.0","id":)" + id_of(reply) + R"(,"result":null})";
        }
        return array_of(replies);
    });
    const RecordingSink sink = f.ask('[' + look_up + ',' + look_up + ']');
    CHECK(sink.body == R"([{"jsonrpc":"2.0","id":1,"result":null},)"
                       R"({"jsonrpc":"2.0","id":1,"result":null}])");
    CHECK(f.transport.sent.size() == 1);
}

TEST_CASE("an array counts as an attempt of each of its calls") {
    struct Case {
        unsigned max_attempts;
        std::size_t again;  // messages after the array, for each call
    };
    for (const Case& c : {Case{1, 0}, Case{2, 1}, Case{4, 3}}) {
        DYNAMIC_SECTION(c.max_attempts << " attempts") {
            config::Config config = make_config(2);
            config.chains[0].reads.max_attempts = c.max_attempts;
            Batches f(config);
            for (std::size_t i = 0; i < 2; ++i) {
                f.transport.on(i, unavailable());
                f.transport.on_array(i, unavailable());
            }
            const RecordingSink sink = f.ask(balances(5));
            CHECK(f.transport.sent.size() == 1 + 5 * c.again);
            CHECK(sink.head.attempts == f.transport.sent.size());
            CHECK(type_of(item(sink.body, 4)) == "bad_upstream_reply");
            if (f.transport.sent.size() > 1) {
                CHECK(f.transport.sent[1].upstream == 1);
            }
        }
    }
}

TEST_CASE("an outage is not multiplied by the calls of its arrays") {
    Batches f(2);
    for (std::size_t i = 0; i < 2; ++i) {
        f.transport.on(i, unavailable());
        f.transport.on_array(i, unavailable());
    }
    const RecordingSink sink = f.ask(balances(1000));
    CHECK(jsonrpc::element_count(sink.body) == 1000);
    // Twenty arrays at most, and a fifth of the calls; what never went in an array goes alone once.
    std::size_t alone = 0;
    std::map<std::string, std::size_t> times;
    for (const Sent& message : f.transport.sent) {
        if (!is_array(message)) {
            ++alone;
            times[std::string(jsonrpc::member(message.body, "params"))] += 1;
        }
    }
    INFO(alone);
    CHECK(f.transport.sent.size() - alone <= 20);
    CHECK(alone <= times.size() + 200);
}

TEST_CASE("what was lost with an array and is answered alone is no outage") {
    Batches f(1);
    f.transport.on_array(0, unavailable());
    f.check(f.ask(balances(500)), 500);
}

TEST_CASE("Weir-Attempts counts the arrays that were refused") {
    Batches f(1);
    const std::size_t most = 3;
    f.transport.on_array(0, limited_to(most, "batch limit 3 exceeded"));
    const RecordingSink sink = f.ask(balances(10));
    f.check(sink, 10);
    CHECK(sink.head.attempts == f.transport.sent.size());
    CHECK(sink.head.attempts == 5);
}
