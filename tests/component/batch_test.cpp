// Batches through arrays: what is sent, and one item per call whatever comes back.
#include "component/batch_fixture.hpp"

#include <algorithm>
#include <functional>

using namespace weir;
using namespace weir::test;

namespace {

std::string error_of_all(std::string_view id, std::string_view message) {
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) +
           R"(,"error":{"code":-32600,"message":")" + std::string(message) + "\"}}";
}

}  // namespace

TEST_CASE("a batch of reads is one message; a large one is cut") {
    Batches f(1);
    const RecordingSink sink = f.ask(balances(20));
    f.check(sink, 20);
    CHECK(f.sizes() == std::vector<std::size_t>{20});
    CHECK(sink.head.attempts == 1);
    f.check(f.ask(balances(250)), 250);
    CHECK(f.sorted_sizes() == std::vector<std::size_t>{100, 100, 50, 20});
}

TEST_CASE("configured sizes hold; one call at a time where arrays are not wanted") {
    config::Config config = make_config(1);
    config.chains[0].upstreams[0].batch.max_calls = 3;
    SECTION("three") {
        Batches f(config);
        f.check(f.ask(balances(20)), 20);
        CHECK(f.sorted_sizes() == std::vector<std::size_t>{3, 3, 3, 3, 3, 3, 2});
    }
    SECTION("one") {
        config.chains[0].upstreams[0].batch.max_calls = 1;
        Batches f(config);
        f.check(f.ask(balances(20)), 20);
        CHECK(f.sizes() == std::vector<std::size_t>(20, 1));
    }
    SECTION("the chain's") {
        config.chains[0].batch.max_upstream_calls = 2;
        Batches f(config);
        f.check(f.ask(balances(4)), 4);
        CHECK(f.sizes() == std::vector<std::size_t>{2, 2});
    }
}

TEST_CASE("whatever comes back: one item per id, in order, with its own value") {
    struct Case {
        const char* name;
        std::function<Reaction(const Sent&)> script;
        std::size_t asked_again;
    };
    const auto with = [](std::function<void(std::vector<std::string>&)> change) {
        return [change](const Sent& message) {
            std::vector<std::string> replies = replies_to(message);
            change(replies);
            return array_of(replies);
        };
    };
    using Replies = std::vector<std::string>;
    const auto member_of_third = [&](std::string text) {
        return with([text](Replies& r) {
            r[2] = R"({"jsonrpc":"2.0","id":)" + id_of(r[2]) + ',' + text + '}';
        });
    };
    const std::vector<Case> cases = {
        {"reversed", with([](Replies& r) { std::reverse(r.begin(), r.end()); }), 0},
        {"one missing", with([](Replies& r) { r.erase(r.begin() + 2); }), 1},
        {"one twice", with([](Replies& r) { r.push_back(r[2]); }), 0},
        {"one twice, contradicting itself", with([](Replies& r) {
             r.push_back(R"({"jsonrpc":"2.0","id":)" + id_of(r[2]) + R"(,"result":"other"})");
         }),
         1},
        {"one extra", with([](Replies& r) {
             r.push_back(R"({"jsonrpc":"2.0","id":99999,"result":"foreign"})");
         }),
         0},
        {"ids as strings", with([](Replies& r) {
             for (std::string& reply : r) {
                 const std::string id = id_of(reply);
                 reply.replace(reply.find("\"id\":" + id) + 5, id.size(), '"' + id + '"');
             }
         }),
         0},
        {"ids of another request", with([](Replies& r) {
             for (std::string& reply : r) {
                 const std::string id = id_of(reply);
                 reply.replace(reply.find("\"id\":" + id) + 5, id.size(), "9000" + id);
             }
         }),
         5},
        {"null items", with([](Replies& r) { r[2] = r[3] = "null"; }), 2},
        {"error: null beside a result", member_of_third(R"("error":null,"result":"2 wei")"), 0},
        {"both", member_of_third(R"("error":{"code":1,"message":"x"},"result":"y")"), 1},
        {"neither", member_of_third(R"("more":1)"), 1},
        {"an id twice", member_of_third(R"("id":1,"result":"y")"), 1},
        {"one object for all",
         [](const Sent&) {
             Reaction reaction;
             reaction.body = error_of_all("null", "invalid request");
             return reaction;
         },
         5},
        {"an array of one, id null",
         [](const Sent&) { return array_of({error_of_all("null", "no")}); }, 5},
        {"an empty array", [](const Sent&) { return array_of({}); }, 5},
        {"cut off",
         [](const Sent& message) {
             Reaction reaction = good(message);
             reaction.body.resize(reaction.body.size() - 20);
             return reaction;
         },
         5},
        {"a page",
         [](const Sent&) {
             Reaction reaction;
             reaction.status = 502;
             reaction.body = "<html>bad gateway</html>";
             return reaction;
         },
         5},
        {"lost",
         [](const Sent&) {
             Reaction reaction;
             reaction.lost = true;
             return reaction;
         },
         5},
        {"silence",
         [](const Sent&) {
             Reaction reaction;
             reaction.hangs = true;
             return reaction;
         },
         5},
        {"longer than the reply buffer",
         with([](Replies& r) { r.push_back(R"({"more":")" + std::string(2000, 'x') + "\"}"); }), 0},
        {"long and breaking off",
         [](const Sent& message) {
             Reaction reaction = good(message);
             reaction.body.insert(1, 2000, ' ');
             reaction.piece = 100;
             reaction.breaks_off = true;
             return reaction;
         },
         5},
    };
    for (const std::size_t upstreams : {2U, 1U}) {
        for (const Case& c : cases) {
            DYNAMIC_SECTION(c.name << ", " << upstreams << " upstreams") {
                Batches f(upstreams);
                f.transport.on_array(0, c.script);
                f.check(f.ask(balances(5)), 5);
                CHECK(f.transport.sent.size() == 1 + c.asked_again);
                CHECK(f.transport.count(upstreams - 1) == c.asked_again + (upstreams == 1 ? 1 : 0));
            }
        }
    }
}

TEST_CASE("where no connection can be had, the whole batch goes elsewhere") {
    Batches f(2);
    Reaction refused;
    refused.refused = true;
    f.transport.on_array(0, [refused](const Sent&) { return refused; });
    f.check(f.ask(balances(5)), 5);
    CHECK(f.transport.count(0) == 1);
}

TEST_CASE("an item's own error is its answer; a passing one is asked again elsewhere") {
    Batches f(2);
    f.transport.on_array(0, [](const Sent& message) {
        std::vector<std::string> r = replies_to(message);
        r[1] = R"({"jsonrpc":"2.0","id":)" + id_of(r[1]) +
               R"(,"error":{"code":3,"message":"execution reverted","data":"0x08"}})";
        r[3] = R"({"jsonrpc":"2.0","id":)" + id_of(r[3]) +
               R"(,"error":{"code":-32603,"message":"internal error"}})";
        return array_of(r);
    });
    const RecordingSink sink = f.ask(balances(5));
    CHECK(item(sink.body, 1) ==
          R"({"jsonrpc":"2.0","id":"c1","error":{"code":3,"message":"execution reverted",)"
          R"("data":"0x08"}})");
    CHECK(result_of(item(sink.body, 3)) == "\"3 wei\"");
    CHECK(f.sizes() == std::vector<std::size_t>{5, 1});
    CHECK(f.transport.count(1) == 1);
}

TEST_CASE("a size that is refused is learned: the next batch goes out right at once") {
    struct Case {
        const char* refusal;
        std::vector<std::size_t> first;
    };
    const std::vector<Case> cases = {
        {"batch limit 3 exceeded", {10, 3, 3, 3, 1}},
        {"too many RPC calls in batch request", {10, 5, 2, 2, 2, 2, 2}},
    };
    for (const Case& c : cases) {
        DYNAMIC_SECTION(c.refusal) {
            Batches f(1);
            const std::size_t most = 3;
            f.transport.on_array(0, limited_to(most, c.refusal));
            f.check(f.ask(balances(10)), 10);
            CHECK(f.sorted_sizes() == c.first);
            f.transport.sent.clear();
            f.check(f.ask(balances(10)), 10);
            const std::vector<std::size_t> sizes = f.sizes();
            CHECK(*std::max_element(sizes.begin(), sizes.end()) <= most);
            const auto row = f.pools[0]->status(f.clock.now()).front();
            CHECK(row.batch_limit == (c.first[1] == 3 ? 3U : 2U));
            CHECK(row.state == routing::UpstreamState::fit);
            CHECK(row.success_rate.value_or(1) == 1);
            CHECK(row.cooldown == core::Duration::zero());
        }
    }
}
