// Broadcasts over scripted upstreams: sent once, and found out about when the reply is lost.
#include "component/broadcast_fixture.hpp"
#include "jsonrpc/value.hpp"

using namespace weir;
using namespace weir::test;

TEST_CASE("a lost reply is found out about: the client gets the hash, and one broadcast was made") {
    Reaction foreign;
    foreign.body = R"({"jsonrpc":"2.0","id":987654,"result":"0x1"})";
    Reaction cut;
    cut.body = R"({"jsonrpc":"2.0","id":{id},"resu)";
    Reaction hangs;
    hangs.hangs = true;
    for (const Reaction& reply : {lost(), html(500), html(502), foreign, cut, hangs}) {
        Quick f(2);
        f.transport.on(0, script(reply, known()));
        f.transport.on(1, script(result("\"never\""), result("null")));
        const RecordingSink sink = f.ask(broadcast());
        CHECK(sink.body == hash_answer());
        CHECK(broadcasts(f) == 1);
        CHECK(f.records.find(kHash)->outcome == proxy::WriteOutcome::accepted);
    }
}

TEST_CASE("another upstream's word counts too, and only for the hash that was asked for") {
    Quick f(2);
    f.transport.on(0, script(lost(), lost()));
    f.transport.on(1, script(result("\"never\""), known()));
    CHECK(f.ask(broadcast()).body == hash_answer());
    Quick g(1);
    g.transport.on(0, script(lost(), result(R"({"hash":"0x1234"})")));
    const RecordingSink sink = g.ask(broadcast());
    CHECK(has_type(sink.body, "broadcast_unknown"));
    CHECK(broadcasts(g) == 1);
}

TEST_CASE("what cannot be found out is said so, with the hash") {
    Quick f(2);
    f.transport.on(0, script(lost(), result("null")));
    f.transport.on(1, script(result("\"never\""), result("null")));
    const RecordingSink sink = f.ask(broadcast());
    CHECK(sink.head.status == 200);
    CHECK(sink.body.find(R"("code":-32050)") != std::string::npos);
    CHECK(sink.body.find(R"("transactionHash":)" + quoted(kHash) + R"(,"outcome":"unknown")") !=
          std::string::npos);
    CHECK(broadcasts(f) == 1);
    CHECK(f.records.find(kHash)->outcome == proxy::WriteOutcome::unknown);
}

TEST_CASE("a node that knows the transaction has accepted it, however it says so") {
    for (const char* wording :
         {"already known", "AlreadyKnown", "Known transaction", "transaction already imported",
          "Transaction with the same hash was already imported.",
          "known transaction: 33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788"}) {
        Quick f(1);
        f.transport.on(0, script(rpc_error(-32000, wording), result("null")));
        INFO(wording);
        CHECK(f.ask(broadcast()).body == hash_answer());
        CHECK(f.transport.sent.size() == 1);
    }
}

TEST_CASE("an ambiguous refusal is looked up; a plain one is not") {
    for (const char* wording : {"nonce too low", "replacement transaction underpriced"}) {
        INFO(wording);
        Quick mined(1);
        mined.transport.on(0, script(rpc_error(-32000, wording), known()));
        CHECK(mined.ask(broadcast()).body == hash_answer());
        Quick other(1);
        other.transport.on(0, script(rpc_error(-32000, wording), result("null")));
        CHECK(other.ask(broadcast()).body.find(wording) != std::string::npos);
        CHECK(other.records.find(kHash)->outcome == proxy::WriteOutcome::rejected);
    }
    Quick f(1);
    f.transport.on(
        0, script(rpc_error(-32000, "insufficient funds for gas * price + value"), known()));
    CHECK(f.ask(broadcast()).body.find("insufficient funds") != std::string::npos);
    CHECK(f.transport.sent.size() == 1);
}

TEST_CASE("repeated bytes are answered from the record, or looked up, but not sent again") {
    Quick f(1);
    f.transport.on(0, script(result(quoted(kHash)), known()));
    CHECK(f.ask(broadcast()).body == hash_answer());
    CHECK(f.ask(broadcast()).body == hash_answer());
    CHECK(f.transport.sent.size() == 1);
    Quick g(1);
    g.transport.on(0, script(lost(), result("null")));
    CHECK(has_type(g.ask(broadcast()).body, "broadcast_unknown"));
    g.transport.on(0, script(result("\"never\""), known()));
    CHECK(g.ask(broadcast()).body == hash_answer());
    CHECK(broadcasts(g) == 1);
}

TEST_CASE("a client that asks again after an unknown outcome has its bytes sent again, once") {
    Quick f(1);
    f.transport.on(0, script(lost(), result("null")));
    CHECK(has_type(f.ask(broadcast()).body, "broadcast_unknown"));
    f.transport.on(0, script(result(quoted(kHash)), result("null")));
    CHECK(f.ask(broadcast()).body == hash_answer());
    CHECK(broadcasts(f) == 2);
    Quick g(1);
    g.transport.on(0, script(lost(), lost()));
    CHECK(has_type(g.ask(broadcast()).body, "broadcast_unknown"));
    CHECK(has_type(g.ask(broadcast()).body, "broadcast_unknown"));
    CHECK(broadcasts(g) == 1);  // nobody said that it is not known
}

TEST_CASE("the bytes are the same however the client's JSON spells them") {
    Quick f(1);
    f.transport.on(0, script(result(quoted(kHash)), known()));
    CHECK(f.ask(broadcast()).body == hash_answer());
    const std::string escaped = R"(["0\u0078)" + std::string(kRaw + 2) + R"("])";
    CHECK(f.ask(call("1", "eth_sendRawTransaction", escaped)).body == hash_answer());
    CHECK(broadcasts(f) == 1);
}

TEST_CASE("a rejection is not replayed") {
    Quick f(1);
    f.transport.on(0, script(rpc_error(-32000, "insufficient funds"), result("null")));
    CHECK(f.ask(broadcast()).body.find("insufficient funds") != std::string::npos);
    f.transport.on(0, script(result(quoted(kHash)), result("null")));
    CHECK(f.ask(broadcast()).body == hash_answer());
}

TEST_CASE("the same bytes twice in one batch are one broadcast") {
    Quick f(1);
    Reaction slow = result(quoted(kHash));
    slow.delay = 50ms;
    f.transport.on(0, script(slow, known()));
    const RecordingSink sink = f.ask('[' + broadcast() + ',' + broadcast() + ']');
    CHECK(sink.body == '[' + hash_answer() + ',' + hash_answer() + ']');
    CHECK(broadcasts(f) == 1);
}

TEST_CASE("the same bytes five times in one batch are one broadcast, also when it is lost") {
    Quick f(1);
    f.transport.on(0, script(lost(), result("null")));
    std::string batch = "[" + broadcast();
    for (int i = 1; i < 5; ++i) {
        batch += ',' + broadcast();
    }
    const RecordingSink sink = f.ask(batch + ']');
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(has_type(std::string(jsonrpc::element(sink.body, i)), "broadcast_unknown"));
    }
    CHECK(broadcasts(f) == 1);
}

TEST_CASE("requests with the same bytes at the same time share one broadcast and its outcome") {
    Quick f(1);
    for (const Reaction& reply : {result(quoted(kHash)), rpc_error(-32000, "insufficient funds")}) {
        Reaction slow = reply;
        slow.delay = 100ms;
        f.transport.on(0, script(slow, known()));
        const std::size_t before = broadcasts(f);
        const std::vector<RecordingSink> sinks = f.ask_all({broadcast(), broadcast(), broadcast()});
        for (const RecordingSink& sink : sinks) {
            CHECK(sink.body == sinks[0].body);
        }
        CHECK(broadcasts(f) - before <= 1);
    }
}

TEST_CASE("a throttled broadcast is one attempt and the one 429") {
    Quick f(1);
    Reaction limited;
    limited.status = 429;
    limited.retry_after = "2";
    limited.body = "slow down";
    f.transport.on(0, script(limited, result("null")));
    for (int i = 0; i < 12; ++i) {
        const RecordingSink sink = f.ask(broadcast());
        CHECK(sink.head.status == 429);
        CHECK(has_type(sink.body, "rate_limited"));
    }
    CHECK(f.transport.sent.size() == 1);
}

TEST_CASE("lookups of a transaction go to the upstream that took it") {
    Quick f(2);
    f.transport.on(0, [](const Sent& message) {
        Reaction refused;
        refused.refused = true;
        return is_broadcast(message) ? refused : result("null");
    });
    f.transport.on(1, script(result(quoted(kHash)), known()));
    CHECK(f.ask(broadcast()).body == hash_answer());
    f.transport.sent.clear();
    f.ask(call("1", "eth_getTransactionReceipt", '[' + quoted(kHash) + ']'));
    REQUIRE(f.transport.sent.size() == 1);
    CHECK(f.transport.sent[0].upstream == 1);
}

TEST_CASE("bytes that are no transaction are sent once, for the node's own error") {
    Quick f(2);
    f.transport.on(0, script(rpc_error(-32000, "rlp: element is larger than containing list"),
                             result("null")));
    CHECK(f.ask(call("1", "eth_sendRawTransaction", R"(["0xdead"])")).body.find("rlp:") !=
          std::string::npos);
    CHECK(f.transport.sent.size() == 1);
    CHECK(f.records.size() == 0);
}

TEST_CASE("a broadcast that waits for its block answers with the receipt") {
    Quick f(1);
    const std::string receipt = R"({"transactionHash":)" + quoted(kHash) + R"(,"status":"0x1"})";
    f.transport.on(0, [receipt](const Sent& message) {
        if (message.body.find("eth_getTransactionReceipt") != std::string::npos) {
            return result(receipt);
        }
        return is_broadcast(message) ? lost() : known();
    });
    CHECK(f.ask(broadcast("eth_sendRawTransactionSync")).body ==
          R"({"jsonrpc":"2.0","id":1,"result":)" + receipt + '}');
    CHECK(broadcasts(f) == 1);
}
