// What a broadcast is taken to have come to, and what its record and its repetition make of that.
#include "component/broadcast_fixture.hpp"

using namespace weir;
using namespace weir::test;
using proxy::WriteOutcome;

namespace {

const std::string kOther = "0x" + std::string(64, 'a');

std::string other_answer() { return R"({"jsonrpc":"2.0","id":1,"result":)" + quoted(kOther) + '}'; }

WriteOutcome outcome(const Fixture& f) { return f.records.find(kHash)->outcome; }

// `upstream event cause`, one a line.
std::string story(const Fixture& f) {
    std::string out;
    const auto record = f.records.find(kHash);
    for (const proxy::WriteEvent& event : record->events) {
        out += event.upstream.empty() ? "-" : event.upstream;
        out += ' ';
        out += event.event;
        out += event.cause ? ' ' + std::string(routing::to_string(*event.cause)) : "";
        out += '\n';
    }
    return out;
}

}  // namespace

TEST_CASE("a result that is no hash tells nothing") {
    for (const char* said : {"null", "7", "\"ok\"", "\"0x1234\"", "true", "{}", "[]"}) {
        INFO(said);
        Quick f(2);
        f.transport.on(0, script(result(said), result("null")));
        f.transport.on(1, script(result("\"never\""), result("null")));
        CHECK(has_type(f.ask(broadcast()).body, "broadcast_unknown"));
        CHECK(outcome(f) == WriteOutcome::unknown);
        CHECK(broadcasts(f) == 1);
        Quick g(2);
        g.transport.on(0, script(result(said), result("null")));
        g.transport.on(1, script(result("\"never\""), known()));
        CHECK(g.ask(broadcast()).body == hash_answer());
        CHECK(outcome(g) == WriteOutcome::accepted);
        CHECK(broadcasts(g) == 1);
    }
}

TEST_CASE("another hash than the transaction's is passed on, to those who repeat it too") {
    Quick f(1);
    Reaction slow = result(quoted(kOther));
    slow.delay = 50ms;
    f.transport.on(0, script(slow, result("null")));
    for (const RecordingSink& sink : f.ask_all({broadcast(), broadcast()})) {
        CHECK(sink.body == other_answer());
    }
    CHECK(f.ask(broadcast()).body == other_answer());
    CHECK(broadcasts(f) == 1);
    CHECK(story(f).find("u0 other_hash") != std::string::npos);
}

TEST_CASE("an error that leaves it open is looked up, and again before the bytes are sent again") {
    for (const Reaction& refusal :
         {rpc_error(-32603, "Internal error"), rpc_error(-32000, "something odd")}) {
        Quick f(1);
        f.transport.on(0, script(refusal, result("null")));
        const std::string first = f.ask(broadcast()).body;
        CHECK(first.find(R"("error":{"code":-32)") != std::string::npos);
        CHECK_FALSE(has_type(first, "broadcast_unknown"));
        CHECK(outcome(f) == WriteOutcome::unknown);
        f.transport.on(0, script(result("\"never\""), known()));
        CHECK(f.ask(broadcast()).body == hash_answer());
        CHECK(broadcasts(f) == 1);
    }
}

TEST_CASE("whoever joined an open error gets it too") {
    Quick f(1);
    Reaction slow = rpc_error(-32603, "Internal error");
    slow.delay = 50ms;
    f.transport.on(0, script(slow, result("null")));
    const std::vector<RecordingSink> sinks = f.ask_all({broadcast(), broadcast()});
    CHECK(sinks[0].body == sinks[1].body);
    CHECK(sinks[0].body.find("Internal error") != std::string::npos);
    CHECK(broadcasts(f) == 1);
}

TEST_CASE("the word that ends a lookup is that of the upstream that refused") {
    Quick f(2);
    int looks = 0;
    f.transport.on(0, [&looks](const Sent& message) {
        if (is_broadcast(message)) {
            return rpc_error(-32603, "Internal error");
        }
        return ++looks < 3 ? lost() : known();
    });
    f.transport.on(1, script(result("\"never\""), result("null")));
    CHECK(f.ask(broadcast()).body == hash_answer());
}

TEST_CASE("an error that leaves it open passes unchanged where a lookup brings nothing") {
    Quick f(1);
    f.transport.on(0, script(rpc_error(-32000, "nonce too low"), lost()));
    CHECK(f.ask(broadcast()).body.find(R"("error":{"code":-32000,"message":"nonce too low"})") !=
          std::string::npos);
    CHECK(outcome(f) == WriteOutcome::unknown);
    // The same bytes again are not sent while nobody can say.
    CHECK(has_type(f.ask(broadcast()).body, "broadcast_unknown"));
    CHECK(broadcasts(f) == 1);
    Quick g(1);
    g.transport.on(0, script(rpc_error(-32000, "nonce too low"),
                             rpc_error(-32601, "the method does not exist/is not available")));
    CHECK(g.ask(broadcast()).body.find("nonce too low") != std::string::npos);
    CHECK(outcome(g) == WriteOutcome::unknown);
    CHECK(g.transport.sent.size() == 2);
}

TEST_CASE("an upstream that lost a reply is asked although it is thought ill") {
    Quick f(1);
    for (int i = 0; i < 20; ++i) {  // opens its circuit
        f.transport.on(0, lost());
        f.ask(call("1", "x_write", "[" + std::to_string(i) + "]"));
    }
    REQUIRE(f.pools[0]->snapshots().get()->upstreams[0].state ==
            routing::UpstreamState::circuit_open);
    f.transport.on(0, script(lost(), known()));
    CHECK(f.ask(broadcast()).body == hash_answer());
}

TEST_CASE("it is looked for until the very end of its time") {
    Quick f(1);
    f.config.chains[0].timeouts.request = 5s;
    f.config.chains[0].writes.reconcile_timeout = 1s;
    f.reconfigure();
    const core::TimePoint start = f.clock.now();
    f.transport.on(0, [&](const Sent& message) {
        // The pauses alone would look for the last time after 700 ms.
        return is_broadcast(message)           ? lost()
               : f.clock.now() - start < 900ms ? result("null")
                                               : known();
    });
    CHECK(f.ask(broadcast()).body == hash_answer());
    CHECK(f.clock.now() - start < 2s);
}

TEST_CASE("an upstream that hangs does not keep the others from being looked at") {
    Quick f(2);
    f.config.chains[0].timeouts.request = 5s;
    f.config.chains[0].timeouts.attempt = 3s;
    f.config.chains[0].writes.reconcile_timeout = 1s;
    f.reconfigure();
    Reaction hangs;
    hangs.hangs = true;
    const core::TimePoint start = f.clock.now();
    f.transport.on(0, script(lost(), hangs));
    f.transport.on(
        1, [&](const Sent&) { return f.clock.now() - start < 600ms ? result("null") : known(); });
    CHECK(f.ask(broadcast()).body == hash_answer());
    CHECK(f.clock.now() - start < 1200ms);
}

TEST_CASE("a record tells everything that happened, where and why") {
    Quick f(2);
    f.transport.on(0, script(result(quoted(kHash)), known()));
    f.ask(broadcast());
    CHECK(story(f) == "u0 sent\nu0 answered answered\nu0 accepted\n");

    Quick lossy(2);
    lossy.transport.on(0, script(lost(), lost()));
    lossy.transport.on(1, script(result("\"never\""), result("null")));
    lossy.ask(broadcast());
    const std::string told = story(lossy);
    CHECK(told.starts_with("u0 sent\nu0 no_answer connection_lost\n"));
    CHECK(told.find("u0 lookup_failed connection_lost\n") != std::string::npos);
    CHECK(told.find("u1 not_found answered\n") != std::string::npos);
    CHECK(told.ends_with("- unknown\n"));

    Quick found(1);
    found.transport.on(0, script(lost(), known()));
    found.ask(broadcast());
    CHECK(story(found) ==
          "u0 sent\nu0 no_answer connection_lost\nu0 looked_up answered\nu0 accepted\n");

    Quick door(1);
    door.transport.on(0, script(limited("2"), result("null")));
    door.ask(broadcast());
    CHECK(story(door) == "u0 sent\nu0 turned_away rate_limited\n- rejected\n");

    Quick closed(2);
    Reaction refused;
    refused.refused = true;
    closed.transport.on(0, script(refused, result("null")));
    closed.transport.on(1, script(result(quoted(kHash)), known()));
    closed.ask(broadcast());
    CHECK(story(closed) ==
          "u0 sent\nu0 not_sent connect_failed\nu1 sent\nu1 answered answered\nu1 accepted\n");
}

TEST_CASE("a write that one upstream turns away does not blame the others") {
    Quick f(2);
    f.transport.on(0, script(limited("2"), result("null")));
    RecordingSink sink = f.ask(broadcast());
    CHECK(sink.head.status == 429);
    CHECK(sink.head.retry_after_seconds == 2);
    CHECK(sink.body.find("the write upstream of chain test is rate limited and accepted nothing") !=
          std::string::npos);
    CHECK(sink.body.find("every upstream") == std::string::npos);
    CHECK(f.asked().size() == 1);

    Quick g(2);
    g.transport.on(0, script(unauthorized(), result("null")));
    sink = g.ask(broadcast());
    CHECK(sink.head.status == 503);
    CHECK(has_type(sink.body, "no_upstream"));
    CHECK(sink.body.find("the write upstream of chain test refused the gateway's credentials") !=
          std::string::npos);
    CHECK(g.asked().size() == 1);
}

TEST_CASE("attempts are all messages that were sent for the request, lookups too") {
    Quick f(1);
    f.transport.on(0, script(result(quoted(kHash)), known()));
    CHECK(f.ask(broadcast()).head.attempts == 1);
    CHECK(f.ask(broadcast()).head.attempts == 0);  // from the record
    Quick g(2);
    g.transport.on(0, script(lost(), result("null")));
    g.transport.on(1, script(result("\"never\""), result("null")));
    CHECK(g.ask(broadcast()).head.attempts == g.transport.sent.size());
    CHECK(g.transport.sent.size() > 3);
}
