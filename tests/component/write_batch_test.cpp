// Writes of one batch: in order, to one upstream, and a true error for those that were not sent.
#include "component/broadcast_fixture.hpp"
#include "jsonrpc/value.hpp"
#include "support/rpc.hpp"

using namespace weir;
using namespace weir::test;

namespace {

std::string write_call(int id) {
    return call(std::to_string(id), "x_write", "[" + std::to_string(id) + "]");
}

std::string three_writes() {
    return '[' + write_call(1) + ',' + write_call(2) + ',' + write_call(3) + ']';
}

// `first` to the first message, then a result.
ScriptedTransport::Script at_first(Reaction first) {
    return [first, begun = false](const Sent&) mutable {
        return std::exchange(begun, true) ? result("\"taken\"") : first;
    };
}

std::string item(const RecordingSink& sink, std::size_t i) {
    return std::string(jsonrpc::element(sink.body, i));
}

}  // namespace

TEST_CASE("writes of a batch stay with the upstream that got the first, whatever it answers") {
    struct Case {
        Reaction first;
        const char* told;  // of the later ones; nothing: they are taken
    };
    const Case cases[] = {{limited("5"), "rate_limited"},
                          {lost(), ""},
                          {html(502), ""},
                          {rpc_error(-32000, "insufficient funds"), ""}};
    for (const Case& c : cases) {
        Fixture f(2);
        f.config.chains[0].rate_limits.max_wait = 500ms;
        f.reconfigure();
        f.transport.on(0, at_first(c.first));
        const RecordingSink sink = f.ask(three_writes());
        INFO(sink.body);
        CHECK(f.transport.count(1) == 0);
        CHECK(f.transport.count(0) == (*c.told == '\0' ? 3 : 1));
        for (const std::size_t later : {1U, 2U}) {
            if (*c.told == '\0') {
                CHECK(item(sink, later).find("\"taken\"") != std::string::npos);
            } else {
                CHECK(has_type(item(sink, later), c.told));
                CHECK(item(sink, later).find("the write upstream of chain test") !=
                      std::string::npos);
            }
        }
        // The next batch goes to one that can serve.
        CHECK(f.ask(three_writes()).head.status == 200);
    }
}

TEST_CASE("an upstream that refuses the credentials gets no more of the batch, nor does another") {
    Fixture f(2);
    f.transport.on(0, unauthorized());
    const RecordingSink sink = f.ask(three_writes());
    INFO(sink.body);
    CHECK(f.transport.count(0) == 2);  // the first refusal might be about its call alone
    CHECK(f.transport.count(1) == 0);
    for (const std::size_t i : {0U, 1U, 2U}) {
        CHECK(has_type(item(sink, i), "no_upstream"));
    }
    CHECK(item(sink, 2).find("was not sent: the write upstream of chain test") !=
          std::string::npos);
    CHECK(f.ask(write_call(4)).body.find("from 1") != std::string::npos);
}

TEST_CASE("writes behind one that spent the plan are told so, and not to come back in a moment") {
    for (const std::size_t upstreams : {1U, 2U}) {
        Fixture f(upstreams);
        f.transport.on(0, [](const Sent&) {
            Reaction spent = rpc_error(-32005, "monthly quota exceeded");
            spent.status = 402;
            return spent;
        });
        const RecordingSink sink = f.ask(three_writes());
        INFO(sink.body);
        CHECK(f.transport.sent.size() == 1);
        for (const std::size_t i : {0U, 1U, 2U}) {
            CHECK(has_type(item(sink, i), "quota_exhausted"));
            CHECK(item(sink, i).find("the write upstream of chain test has spent its plan") !=
                  std::string::npos);
        }
    }
}

TEST_CASE("the same bytes again in one batch are a write like any other after a rejection") {
    Reaction short_limit = limited("5");
    short_limit.retry_after = "1";
    for (const Reaction& first : {short_limit, rpc_error(-32000, "insufficient funds for gas")}) {
        Fixture f(2);
        f.config.chains[0].writes.reconcile_timeout = 400ms;  // leaves time to wait
        f.reconfigure();
        f.transport.on(0, [&first, begun = false](const Sent&) mutable {
            return std::exchange(begun, true) ? result(quoted(kHash)) : first;
        });
        const RecordingSink sink =
            f.ask('[' + broadcast() + ',' + broadcast() + ',' + broadcast() + ']');
        INFO(sink.body);
        CHECK(item(sink, 0).find("error") != std::string::npos);
        CHECK(item(sink, 1) == hash_answer());
        CHECK(item(sink, 2) == hash_answer());
        CHECK(f.transport.count(0) == 2);  // accepted, it is not sent again
        CHECK(f.transport.count(1) == 0);
    }
}

TEST_CASE("a batch wholly of throttled writes is the one 429") {
    Fixture f(2);
    f.config.chains[0].rate_limits.max_wait = 0ms;
    f.reconfigure();
    f.transport.on(0, limited("5"));
    const RecordingSink sink = f.ask(three_writes());
    CHECK(sink.head.status == 429);
    CHECK(sink.head.retry_after_seconds == 5);
    CHECK(f.transport.sent.size() == 1);
}

TEST_CASE("a write of a batch waits for its upstream's cool-down like any other") {
    Fixture f(2);
    Reaction short_limit = limited("5");
    short_limit.retry_after = "1";
    f.transport.on(0, at_first(short_limit));
    const RecordingSink sink = f.ask('[' + write_call(1) + ',' + write_call(2) + ']');
    CHECK(has_type(item(sink, 0), "rate_limited"));
    CHECK(item(sink, 1).find("\"taken\"") != std::string::npos);
    CHECK(f.transport.count(0) == 2);
    CHECK(f.transport.count(1) == 0);
}

TEST_CASE("what never left binds nothing: an upstream that cannot be connected to") {
    Fixture f(2);
    f.transport.on(0, refused());
    const RecordingSink sink = f.ask(three_writes());
    for (const std::size_t i : {0U, 1U, 2U}) {
        CHECK(item(sink, i).find("from 1") != std::string::npos);
    }
    // Bound by the first, a later one is not sent elsewhere.
    Fixture g(2);
    g.transport.on(
        0, [n = 0](const Sent&) mutable { return ++n == 1 ? result("\"taken\"") : refused(); });
    const RecordingSink later = g.ask(three_writes());
    INFO(later.body);
    CHECK(item(later, 0).find("\"taken\"") != std::string::npos);
    for (const std::size_t i : {1U, 2U}) {
        CHECK(has_type(item(later, i), "no_upstream"));
        CHECK(item(later, i).find("was not sent") != std::string::npos);
    }
    CHECK(g.transport.count(1) == 0);
}

TEST_CASE("a write that proves undone may begin the batch elsewhere, and binds it there") {
    Fixture f(2);
    const auto lacks = [](const Sent& message) {
        return message.body.find("x_write") != std::string::npos
                   ? rpc_error(-32601, "the method does not exist/is not available")
                   : result("\"never\"");
    };
    f.transport.on(0, lacks);
    const std::string batch = '[' + write_call(1) + ',' + call("2", "x_other") + ']';
    const RecordingSink sink = f.ask(batch);
    CHECK(item(sink, 0).find("from 1") != std::string::npos);
    CHECK(item(sink, 1).find("from 1") != std::string::npos);
}

TEST_CASE("writes behind one that hangs are told that they were not sent") {
    Quick f(2);
    f.transport.on(0, script(hangs(), known()));
    const std::string other = call("2", "x_write");
    const RecordingSink sink = f.ask('[' + broadcast() + ',' + other + ',' + other + ']');
    INFO(sink.body);
    CHECK(item(sink, 0) == hash_answer());  // reconciled: its time was kept for it
    // The first one's lookup was quick: the others still have time.
    CHECK(item(sink, 1).find("error") == std::string::npos);

    Quick g(2);
    g.transport.on(0, hangs());
    g.transport.on(1, script(result("\"never\""), result("null")));
    const RecordingSink late = g.ask('[' + broadcast() + ',' + other + ',' + other + ']');
    INFO(late.body);
    CHECK(has_type(item(late, 0), "broadcast_unknown"));
    for (const std::size_t i : {1U, 2U}) {
        CHECK(has_type(item(late, i), "no_upstream"));
        CHECK(item(late, i).find("was not sent and may be sent again") != std::string::npos);
    }
    CHECK_FALSE(has_type(late.body, "deadline"));
    CHECK(broadcasts(g) == 1);
}

TEST_CASE("the record of a broadcast that was not sent says so") {
    Quick f(1);
    f.transport.on(0, hangs());
    const RecordingSink sink = f.ask('[' + call("2", "x_write") + ',' + broadcast() + ']');
    CHECK(has_type(item(sink, 1), "no_upstream"));
    CHECK(broadcasts(f) == 0);
    const auto record = f.records.find(kHash);
    REQUIRE(record);
    CHECK(record->outcome == proxy::WriteOutcome::rejected);
    REQUIRE(record->events.size() == 2);
    CHECK(record->events[0].event == "not_sent");
    CHECK(record->events[1].event == "rejected");
}

TEST_CASE("a single write whose connection cannot be opened in time was not sent") {
    Fixture f(1);
    f.transport.on(0, refused());
    const RecordingSink sink = f.ask(write_call(1));
    CHECK(sink.head.status == 503);
    CHECK(has_type(sink.body, "no_upstream"));
    CHECK(sink.body.find("was not sent") != std::string::npos);
}
