// Batches against limits: array sizes that change while the gateway runs, rate limits, memory.
#include "component/batch_fixture.hpp"

#include <algorithm>
#include <chrono>

using namespace weir;
using namespace weir::test;

namespace {

void observe_head(Batches& f) {
    f.pools[0]->observe_head(
        0, {.latest = {100, "0xaa"}, .parent_hash = "0xbb", .timestamp = 0, .at = f.clock.now()});
}

std::string limited_item(std::string_view sent_call) {
    return R"({"jsonrpc":"2.0","id":)" + id_of(sent_call) +
           R"(,"error":{"code":-32005,"message":"rate limit exceeded"}})";
}

config::Config impatient(std::size_t upstreams) {
    config::Config config = make_config(upstreams);
    config.chains[0].rate_limits.max_wait = 0s;
    return config;
}

}  // namespace

TEST_CASE("a limit that changes while the gateway runs is followed both ways") {
    struct Case {
        const char* refusal;
        std::size_t learned;
    };
    for (const Case& c :
         {Case{"batch limit 10 exceeded", 10}, Case{"too many RPC calls in batch request", 6}}) {
        DYNAMIC_SECTION(c.refusal) {
            Batches f(1);
            std::size_t most = 100;
            f.transport.on_array(0, limited_to(most, c.refusal));
            const auto messages_for = [&f](std::size_t calls) {
                f.transport.sent.clear();
                f.check(f.ask(balances(calls)), calls);
                const auto row = f.pools[0]->status(f.clock.now()).front();
                CHECK(row.state == routing::UpstreamState::fit);
                CHECK(row.success_rate == 1);
                CHECK(row.cooldown == core::Duration::zero());
                return f.transport.sent.size();
            };
            const auto limit = [&f] {
                return f.pools[0]->status(f.clock.now()).front().batch_limit;
            };
            CHECK(messages_for(300) == 3);
            CHECK(limit() == 0);  // not known

            // Arrays that were under way when the first was refused, and the halvings to 6.
            most = 10;
            const std::size_t right = (300 + c.learned - 1) / c.learned;
            const std::size_t first = messages_for(300);
            CHECK(first > right);
            CHECK(first <= right + 3 + 5);
            CHECK(limit() == c.learned);
            CHECK(messages_for(300) == right);

            most = 100;
            CHECK(messages_for(300) == right);
            for (int i = 0; i < 12 && limit() != 0; ++i) {
                const std::size_t before = limit();
                f.clock.pass(10min);
                observe_head(f);
                messages_for(300);
                CHECK((limit() == 0 || limit() > before));
            }
            CHECK(limit() == 0);
            CHECK(messages_for(300) == 3);
        }
    }
}

TEST_CASE("a limit that nobody tells: only the first calls of an array are answered") {
    Batches f(1);
    f.transport.on_array(0, [](const Sent& message) {
        std::vector<std::string> replies = replies_to(message);
        replies.resize(std::min<std::size_t>(replies.size(), 10));
        return array_of(replies);
    });
    f.check(f.ask(balances(25)), 25);
    f.check(f.ask(balances(25)), 25);
    CHECK(f.pools[0]->status(f.clock.now()).front().batch_limit == 10);
    f.transport.sent.clear();
    f.check(f.ask(balances(25)), 25);
    CHECK(f.sorted_sizes() == std::vector<std::size_t>{10, 10, 5});
}

TEST_CASE("all items that needed an upstream are limited: 429 with the array") {
    Batches f(impatient(2));
    for (std::size_t i = 0; i < 2; ++i) {
        f.transport.on(i, limited("7"));
        f.transport.on_array(i, limited("7"));
    }
    std::string body = balances(3);
    body.insert(1, call("\"chain\"", "eth_chainId") + ',');
    SECTION("none needed one besides") {}
    SECTION("a denied method among them") {
        body.insert(1, call("\"denied\"", "admin_peers") + ',');
    }
    const RecordingSink sink = f.ask(body);
    CHECK(sink.head.status == 429);
    CHECK(sink.head.retry_after_seconds == 7);
    const std::size_t count = jsonrpc::element_count(sink.body);
    CHECK(result_of(item(sink.body, count - 4)) == "\"0x1\"");
    for (std::size_t i = count - 3; i < count; ++i) {
        CHECK(type_of(item(sink.body, i)) == "rate_limited");
        CHECK(code_of(item(sink.body, i)) == "-32005");
    }
}

TEST_CASE("some items are limited: only those carry the error") {
    Batches f(impatient(1));
    f.transport.on(0, limited("7"));
    f.transport.on_array(0, [](const Sent& message) {
        std::vector<std::string> replies = replies_to(message);
        replies[1] = limited_item(replies[1]);
        return array_of(replies);
    });
    const RecordingSink sink = f.ask(balances(3));
    CHECK(sink.head.status == 200);
    CHECK(sink.head.retry_after_seconds == 0);
    CHECK(result_of(item(sink.body, 0)) == "\"0 wei\"");
    CHECK(type_of(item(sink.body, 1)) == "rate_limited");
    CHECK(result_of(item(sink.body, 2)) == "\"2 wei\"");
}

TEST_CASE("items that one upstream limits come from another") {
    Batches f(impatient(2));
    f.transport.on_array(0, [](const Sent& message) {
        std::vector<std::string> replies = replies_to(message);
        replies[1] = limited_item(replies[1]);
        return array_of(replies);
    });
    f.check(f.ask(balances(3)), 3);
    CHECK(f.sizes() == std::vector<std::size_t>{3, 1});
}

TEST_CASE("what a batch holds is charged to the memory that all buffers share") {
    Batches f(1);
    std::size_t most_used = 0;
    SECTION("its arrays") {
        f.transport.on_array(0, [&](const Sent& message) {
            CHECK(f.budget.used() >= message.body.size());
            most_used = f.budget.used();
            return good(message);
        });
        std::string body = balances(3);
        const std::string blanks(300'000, ' ');
        body.insert(body.find("\"latest\""), blanks);
        f.check(f.ask(body), 3);
        CHECK(most_used > blanks.size());
    }
    SECTION("its answers, while others are still to come") {
        const std::size_t size = 4000;
        f.transport.on(0, [&](const Sent&) {
            most_used = std::max(most_used, f.budget.used());
            return result('"' + std::string(size, 'x') + '"');
        });
        std::string body = "[";
        for (int i = 0; i < 100; ++i) {
            body += (i == 0 ? "" : ",") + call("1", "eth_getLogs", "[{}]");
        }
        const RecordingSink sink = f.ask(body + ']');
        CHECK(jsonrpc::element_count(sink.body) == 100);
        CHECK(most_used >= 83 * size);
    }
    SECTION("the text around them: without room for that, nothing is sent") {
        const std::string id = '"' + std::string(40 << 20, 'i') + '"';
        const std::string one = call(id, "eth_gasPrice");
        const RecordingSink sink = f.ask('[' + one + ',' + one + ']');
        CHECK(sink.head.status == 503);
        CHECK(sink.head.retry_after_seconds == 1);
        CHECK(type_of(sink.body) == "overloaded");
        CHECK(f.transport.sent.empty());
    }
    CHECK(f.budget.used() == 0);
}
