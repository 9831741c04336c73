// The request's life over scripted upstreams: what each call came to, and who was asked how often.
#include "component/handler_fixture.hpp"

using namespace weir;
using namespace weir::test;

TEST_CASE("a read goes to the lowest tier and comes back under the client's id") {
    Fixture f(2);
    const RecordingSink sink = f.ask(call("1e400", "eth_gasPrice"));
    CHECK(sink.body == R"({"jsonrpc":"2.0","id":1e400,"result":"from 0"})");
    CHECK(sink.head.status == 200);
    CHECK(sink.head.attempts == 1);
    CHECK(f.transport.count(1) == 0);
}

TEST_CASE("a read that failed for a passing reason is asked elsewhere at once") {
    Reaction html;
    html.status = 502;
    html.body = "<html>bad gateway</html>";
    Reaction lost;
    lost.lost = true;
    Reaction refused;
    refused.refused = true;
    Reaction foreign = result("1");
    foreign.body = R"({"jsonrpc":"2.0","id":999999,"result":"foreign"})";
    Reaction cut = result("1");
    cut.body = R"({"jsonrpc":"2.0","id":{id},"result":)";
    Reaction both = result("1");
    both.body = R"({"jsonrpc":"2.0","id":{id},"result":1,"error":{"code":1,"message":"x"}})";
    Reaction neither = result("1");
    neither.body = R"({"jsonrpc":"2.0","id":{id}})";
    for (const Reaction& reaction : {html, lost, refused, foreign, cut, both, neither}) {
        Fixture f(2);
        f.transport.on(0, reaction);
        const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
        CHECK(sink.body == R"({"jsonrpc":"2.0","id":1,"result":"from 1"})");
        CHECK(sink.head.attempts == 2);
        CHECK(f.transport.count(0) == 1);
    }
}

TEST_CASE("an error that no rule knows and a revert are answers: one attempt, bytes unchanged") {
    for (const char* error :
         {R"({ "code" : -39999, "message":"odd", "data":{"a":[1.0]} })",
          R"({"code":3,"message":"execution reverted: rate limit","data":"0x08c379a0"})",
          R"({"code":-32000,"message":"server error"})"}) {
        Fixture f(2);
        Reaction reaction;
        reaction.body = R"({"id":{id},"jsonrpc":"2.0","error":)" + std::string(error) + '}';
        f.transport.on(0, reaction);
        const RecordingSink sink = f.ask(call("1", "eth_call", R"([{"to":"0x1"},"latest"])"));
        CHECK(sink.body == R"({"jsonrpc":"2.0","id":1,"error":)" + std::string(error) + '}');
        CHECK(sink.head.status == 200);
        CHECK(f.transport.sent.size() == 1);
    }
}

TEST_CASE("with one upstream a read is tried again after a pause") {
    Fixture f(1);
    int failures = 3;
    f.transport.on(0, [&failures](const Sent&) {
        Reaction busy;
        busy.status = 503;
        busy.body = "busy";
        return failures-- > 0 ? busy : result("\"0x1\"");
    });
    const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
    CHECK(sink.body == R"({"jsonrpc":"2.0","id":1,"result":"0x1"})");
    CHECK(sink.head.attempts == 4);
}

TEST_CASE("an outage is not multiplied: reads are asked again within a budget") {
    config::Config config = make_config(2);
    config.chains[0].circuit.failures = 100'000;
    Fixture f(config);
    Reaction busy;
    busy.status = 503;
    busy.body = "busy";
    f.transport.on(0, busy);
    f.transport.on(1, busy);
    constexpr std::size_t kReads = 400;
    std::vector<std::string> reads;
    for (std::size_t i = 0; i < kReads; ++i) {
        reads.push_back(call(std::to_string(i), "eth_call", "[{}," + std::to_string(i) + "]"));
    }
    for (const RecordingSink& sink : f.ask_all(reads)) {
        CHECK(sink.head.status == 502);
        CHECK(has_type(sink.body, "bad_upstream_reply"));
    }
    // Three more for each would be 1600; the least rate allows a hundred in ten seconds.
    CHECK(f.transport.sent.size() >= kReads + 100);
    CHECK(f.transport.sent.size() <= kReads + 101);
}

TEST_CASE("attempts are bounded, and no usable reply is a 502") {
    Fixture f(1);
    Reaction lost;
    lost.lost = true;
    f.transport.on(0, lost);
    const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
    CHECK(sink.head.status == 502);
    CHECK(has_type(sink.body, "bad_upstream_reply"));
    CHECK(f.transport.sent.size() == 4);
}

TEST_CASE("a late read is asked elsewhere as well, and the first answer wins") {
    SECTION("the second is faster") {
        Fixture f(2);
        Reaction hangs;
        hangs.hangs = true;
        f.transport.on(0, hangs);
        const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
        CHECK(sink.body == R"({"jsonrpc":"2.0","id":1,"result":"from 1"})");
        CHECK(sink.head.attempts == 2);
    }
    SECTION("the first answers after all") {
        Fixture f(2);
        Reaction slow = result("\"slow\"");
        slow.delay = 250ms;
        Reaction hangs;
        hangs.hangs = true;
        f.transport.on(0, slow);
        f.transport.on(1, hangs);
        const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
        CHECK(sink.body == R"({"jsonrpc":"2.0","id":1,"result":"slow"})");
    }
    SECTION("nobody else is there: it runs on") {
        Fixture f(1);
        Reaction slow = result("\"slow\"");
        slow.delay = 400ms;
        f.transport.on(0, slow);
        const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
        CHECK(sink.body == R"({"jsonrpc":"2.0","id":1,"result":"slow"})");
        CHECK(f.transport.sent.size() == 1);
    }
    SECTION("all hang: the deadline") {
        Fixture f(2);
        Reaction hangs;
        hangs.hangs = true;
        f.transport.on(0, hangs);
        f.transport.on(1, hangs);
        const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
        CHECK(sink.head.status == 504);
        CHECK(has_type(sink.body, "deadline"));
    }
}

TEST_CASE("a write is sent once, whatever happens after its first byte left") {
    Reaction lost;
    lost.lost = true;
    Reaction html;
    html.status = 500;
    html.body = "<html>";
    Reaction foreign;
    foreign.body = R"({"jsonrpc":"2.0","id":424242,"result":"0x1"})";
    Reaction hangs;
    hangs.hangs = true;
    for (const char* method : {"eth_sendRawTransaction", "eth_sendTransaction", "anvil_mine"}) {
        for (const Reaction& reaction : {lost, html, foreign, hangs}) {
            Fixture f(2);
            f.transport.on(0, reaction);
            const RecordingSink sink = f.ask(call("1", method, R"(["0x01"])"));
            CHECK(f.transport.sent.size() == 1);
            CHECK(f.transport.sent[0].connection == upstream::Connection::never_stale);
            CHECK(has_type(sink.body, "broadcast_unknown"));
            CHECK(sink.head.status == 200);
        }
    }
}

TEST_CASE("a write goes to the next upstream only when nothing was sent or nothing carried out") {
    Fixture f(2);
    Reaction refused;
    refused.refused = true;
    f.transport.on(0, refused);
    CHECK(f.ask(call("1", "eth_sendRawTransaction", R"(["0x01"])")).body ==
          R"({"jsonrpc":"2.0","id":1,"result":"from 1"})");
    Fixture g(2);
    g.transport.on(0, rpc_error(-32601, "the method anvil_mine does not exist/is not available"));
    CHECK(g.ask(call("1", "anvil_mine")).body == R"({"jsonrpc":"2.0","id":1,"result":"from 1"})");
    Fixture h(2);
    h.transport.on(0, rpc_error(-32601, "the method eth_sendRawTransaction does not exist"));
    CHECK(h.ask(call("1", "eth_sendRawTransaction", R"(["0x01"])")).body.find("-32601") !=
          std::string::npos);
    CHECK(h.transport.count(1) == 0);
}

TEST_CASE("writes and reads of pending share one upstream") {
    Fixture f(2);
    f.ask(call("1", "eth_sendRawTransaction", R"(["0x01"])"));
    f.ask(call("2", "eth_getTransactionCount", R"(["0x1","pending"])"));
    f.ask(call("3", "eth_fillTransaction", "[{}]"));
    f.ask(call("4", "txpool_contentFrom", R"(["0x1"])"));
    CHECK(f.asked().size() == 1);
}

TEST_CASE("what the gateway knows is answered without an upstream") {
    Fixture f(1);
    CHECK(f.ask(call("1", "eth_chainId")).body == R"({"jsonrpc":"2.0","id":1,"result":"0x1"})");
    CHECK(f.ask(call("1", "net_listening")).body == R"({"jsonrpc":"2.0","id":1,"result":true})");
    CHECK(f.transport.sent.empty());
    f.transport.on(0, result("\"5\""));
    CHECK(f.ask(call("1", "net_version")).body == R"({"jsonrpc":"2.0","id":1,"result":"5"})");
    CHECK(f.ask(call("2", "net_version")).body == R"({"jsonrpc":"2.0","id":2,"result":"5"})");
    CHECK(f.transport.sent.size() == 1);
}

TEST_CASE("policy is judged on the decoded name, without regard to case") {
    Fixture f(1);
    for (const char* method : {"admin_peers", "ADMIN_peers", "debug_setHead", "\\u0061dmin_x"}) {
        const RecordingSink sink = f.ask(call("1", method));
        CHECK(has_type(sink.body, "method_denied"));
        CHECK(sink.head.status == 200);
    }
    CHECK(has_type(f.ask(call("1", "eth_subscribe")).body, "method_denied"));
    CHECK(f.transport.sent.empty());
}

TEST_CASE("a batch is answered in order, each call for itself") {
    Fixture f(1);
    f.transport.on(0, [](const Sent& message) {
        Reaction reaction = result("\"ok\"");
        if (message.body.find("eth_gasPrice") != std::string::npos) {
            reaction = rpc_error(-39999, "odd");
        } else if (message.body.find("eth_blockNumber") != std::string::npos) {
            reaction.delay = 30ms;
        }
        return reaction;
    });
    const RecordingSink sink =
        f.ask('[' + call("1", "eth_blockNumber") + ",1," + call("1", "eth_gasPrice") + ',' +
              R"({"jsonrpc":"2.0","method":"eth_gasPrice"},)" +
              R"({"jsonrpc":"2.0","method":"eth_sendRawTransaction","params":["0x1"]},)" +
              call("\"a\\u0062\"", "eth_chainId") + ']');
    const std::string expected_start =
        R"([{"jsonrpc":"2.0","id":1,"result":"ok"},{"jsonrpc":"2.0","id":null,"error":)"
        R"({"code":-32600)";
    CHECK(sink.body.substr(0, expected_start.size()) == expected_start);
    const std::string expected_end =
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-39999,"message":"odd"}},)"
        R"({"jsonrpc":"2.0","id":"a\u0062","result":"0x1"}])";
    REQUIRE(sink.body.size() > expected_end.size());
    CHECK(sink.body.substr(sink.body.size() - expected_end.size()) == expected_end);
    CHECK(f.transport.sent.size() == 1);
}

TEST_CASE("requests that are owed nothing, and requests that are none") {
    Fixture f(1);
    CHECK(f.ask(R"({"jsonrpc":"2.0","method":"eth_gasPrice"})").head.status == 204);
    CHECK(f.ask(R"([{"jsonrpc":"2.0","method":"eth_gasPrice"}])").head.status == 204);
    CHECK(f.ask("[]").head.status == 400);
    CHECK(has_type(f.ask("[]").body, "invalid_request"));
    CHECK(f.ask("{").head.status == 400);
    CHECK(has_type(f.ask("{").body, "parse_error"));
    const RecordingSink write =
        f.ask(R"({"jsonrpc":"2.0","method":"eth_sendRawTransaction","params":["0x1"]})");
    CHECK(write.head.status == 400);
    CHECK(has_type(write.body, "invalid_request"));
    CHECK(f.transport.sent.empty());
}

TEST_CASE("a rate limit becomes one shape, and nothing is sent during the cool-down") {
    config::Config config = make_config(1);
    config.chains[0].rate_limits.max_wait = 0s;
    Fixture f(config);
    Reaction limited;
    limited.status = 429;
    limited.retry_after = "2";
    limited.body = "slow down";
    f.transport.on(0, limited);
    for (int i = 0; i < 12; ++i) {
        const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
        CHECK(sink.head.status == 429);
        CHECK(sink.head.retry_after_seconds == 2);
        CHECK(has_type(sink.body, "rate_limited"));
        CHECK(sink.body.find(R"("code":-32005)") != std::string::npos);
    }
    CHECK(f.transport.sent.size() == 1);
}

TEST_CASE("what was told of a limit is limited, of a spent plan failed, and neither is a latency") {
    config::Config config = make_config(1);
    config.chains[0].rate_limits.max_wait = 0s;
    const auto met = [&config](const Reaction& reaction) {
        Fixture f(config);
        f.transport.on(0, reaction);
        CHECK(f.ask(call("1", "eth_gasPrice")).head.status == reaction.status);
        upstream::RecentTraffic::Step all;
        for (const auto& step : f.pools[0]->traffic().list(f.clock.now())) {
            all.calls += step.calls;
            all.limited += step.limited;
            all.failed += step.failed;
            all.p95 = step.p95 ? step.p95 : all.p95;
        }
        return all;
    };
    Reaction refused;
    refused.status = 429;
    refused.body = "slow down";
    const auto limited = met(refused);
    CHECK((limited.calls == 1 && limited.limited == 1 && limited.failed == 0));
    CHECK_FALSE(limited.p95.has_value());
    refused.status = 402;
    const auto spent = met(refused);
    CHECK((spent.calls == 1 && spent.limited == 0 && spent.failed == 1));
    CHECK_FALSE(spent.p95.has_value());
    CHECK(met(result("\"0x1\"")).p95.has_value());
}

TEST_CASE("a filter stays with the upstream that made it") {
    Fixture f(2);
    f.transport.on(0, [](const Sent& message) {
        return message.body.find("eth_newFilter") != std::string::npos ? result("\"0x7\"")
                                                                       : result("[]");
    });
    const RecordingSink made = f.ask(call("1", "eth_newFilter", "[{}]"));
    const std::string start = R"({"jsonrpc":"2.0","id":1,"result":"0x)";
    REQUIRE(made.body.substr(0, start.size()) == start);
    const std::string id = made.body.substr(start.size() - 2, 34);
    f.ask(call("2", "eth_getFilterChanges", "[\"" + id + "\"]"));
    REQUIRE(f.transport.sent.size() == 2);
    CHECK(f.transport.sent[1].upstream == 0);
    CHECK(f.transport.sent[1].body.find(R"("params":["0x7"])") != std::string::npos);
    const RecordingSink unknown = f.ask(call("3", "eth_getFilterChanges", R"(["0x7"])"));
    CHECK(has_type(unknown.body, "filter_not_found"));
    CHECK(f.transport.sent.size() == 2);
    f.ask(call("4", "eth_uninstallFilter", "[\"" + id + "\"]"));
    CHECK(has_type(f.ask(call("5", "eth_getFilterChanges", "[\"" + id + "\"]")).body,
                   "filter_not_found"));
}

TEST_CASE("a long result is passed on as it comes, and cut when it breaks") {
    const std::string value = '"' + std::string(5000, 'a') + '"';
    Fixture f(1);
    Reaction reaction = result(value);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, std::size_t{10'000}}) {
        reaction.piece = piece;
        f.transport.on(0, reaction);
        const RecordingSink sink = f.ask(call("7", "eth_getCode", R"(["0x1","latest"])"));
        CHECK(sink.streamed);
        CHECK(sink.complete);
        CHECK(sink.body == R"({"jsonrpc":"2.0","id":7,"result":)" + value + '}');
    }
    SECTION("the connection breaks") {
        reaction.breaks_off = true;
        f.transport.on(0, reaction);
    }
    SECTION("the JSON breaks") {
        reaction.body.pop_back();
        reaction.body += ']';
        f.transport.on(0, reaction);
    }
    SECTION("an error follows the result") {
        reaction.body.pop_back();
        reaction.body += R"(,"error":{"code":1,"message":"x"}})";
        f.transport.on(0, reaction);
    }
    const RecordingSink cut = f.ask(call("7", "eth_getCode", R"(["0x1","latest"])"));
    CHECK(cut.aborted);
    CHECK_FALSE(cut.complete);
    CHECK(f.pools[0]->status(f.clock.now())[0].success_rate.value_or(1) < 1);
}

TEST_CASE("a long reply that does not show its id first is read whole") {
    const std::string value = '"' + std::string(5000, 'a') + '"';
    Fixture f(1);
    Reaction reaction;
    reaction.body = R"({"jsonrpc":"2.0","result":)" + value + R"(,"id":{id}})";
    reaction.piece = 500;
    f.transport.on(0, reaction);
    const RecordingSink sink = f.ask(call("7", "eth_getCode", R"(["0x1","latest"])"));
    CHECK_FALSE(sink.streamed);
    CHECK(sink.body == R"({"jsonrpc":"2.0","id":7,"result":)" + value + '}');
}

TEST_CASE("calls that every node fails on turn none away, however many and different they are") {
    Fixture f(2);
    for (const routing::UpstreamIndex upstream : {0, 1}) {
        f.transport.on(upstream, rpc_error(-32603, "Internal error"));
    }
    const auto state = [&f](std::size_t upstream) {
        return f.pools[0]->snapshots().get()->upstreams[upstream].state;
    };
    // More than may be asked twice.
    for (int i = 0; i < 300; ++i) {
        f.ask(call("1", "eth_getStorageAt", "[" + std::to_string(i) + "]"));
    }
    CHECK(state(0) == routing::UpstreamState::fit);
    CHECK(state(1) == routing::UpstreamState::fit);
    // One that is ill by itself is found out.
    f.transport.on(1, result("\"0x1\""));
    for (int i = 0; i < 40; ++i) {
        f.ask(call("1", "eth_getBalance", "[" + std::to_string(i) + "]"));
    }
    CHECK(state(0) == routing::UpstreamState::circuit_open);
    CHECK(state(1) == routing::UpstreamState::fit);
}

TEST_CASE("a hostile client cannot turn an upstream away from the others") {
    Fixture f(1);
    const auto is_well = [&f] {
        const auto& upstream = f.pools[0]->snapshots().get()->upstreams[0];
        return upstream.state == routing::UpstreamState::fit &&
               upstream.unsupported_methods.empty() && f.pools[0]->rests_until(0) <= f.clock.now();
    };
    // Its own words come back in the node's error.
    for (const char* words : {"rate limit exceeded", "429 Too Many Requests", "invalid api key",
                              "daily request count exceeded", "method not found"}) {
        INFO(words);
        f.transport.on(0, rpc_error(-32000, std::string("cannot parse: ") + words));
        for (int i = 0; i < 5; ++i) {
            const std::string params = "[\"" + std::string(words) + "\"," + std::to_string(i) + "]";
            CHECK(f.ask(call("1", "eth_call", params)).body.find(words) != std::string::npos);
        }
        CHECK(is_well());
    }
    // Malformed calls of a good method.
    f.transport.on(0, rpc_error(-32602, "invalid argument 0: hex string without 0x prefix"));
    for (int i = 0; i < 20; ++i) {
        f.ask(call("1", "eth_getBalance", "[" + std::to_string(i) + "]"));
    }
    CHECK(is_well());
    // One call that makes the node time out, again and again.
    Reaction hangs;
    hangs.hangs = true;
    f.transport.on(0, [hangs](const Sent& message) {
        return message.body.find("poison") != std::string::npos ? hangs : result("\"0x1\"");
    });
    f.config.chains[0].timeouts.request = 100ms;
    f.reconfigure();
    for (int i = 0; i < 10; ++i) {
        f.ask(call("1", "eth_call", R"(["poison"])"));
    }
    CHECK(is_well());
    CHECK(f.ask(call("1", "eth_gasPrice")).body.find("0x1") != std::string::npos);
}
