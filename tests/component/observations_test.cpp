// What no rule knows passes unchanged, and is kept for the operator.
#include "component/handler_fixture.hpp"

using namespace weir;
using namespace weir::test;

TEST_CASE("an unknown error object is the answer, and its shape is kept") {
    Fixture f(2);
    Reaction odd = result("1");
    odd.body =
        R"({"jsonrpc":"2.0","id":{id},"error":{"code":-32098,"message":"come back in 30 moons, 0xabc1"}})";
    f.transport.on(0, odd);
    const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
    CHECK(sink.body.find("come back in 30 moons, 0xabc1") != std::string::npos);
    CHECK(f.transport.count(1) == 0);
    f.ask(call("2", "eth_gasPrice"));
    const auto kept = f.observations.list();
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].chain == "test");
    CHECK(kept[0].upstream == "u0");
    CHECK(kept[0].count == 2);
    CHECK(kept[0].shape == routing::Shape{200, -32098, "come back in # moons, ***"});
}

TEST_CASE("an error that is no object is no answer: the call goes on") {
    for (const char* error : {"7", "\"text\"", "[1]"}) {
        INFO(error);
        Fixture f(2);
        Reaction odd = result("1");
        odd.body = std::string(R"({"jsonrpc":"2.0","id":{id},"error":)") + error + "}";
        f.transport.on(0, odd);
        CHECK(f.ask(call("1", "eth_gasPrice")).body.find("from 1") != std::string::npos);
        CHECK(f.observations.list().size() == 1);
        f.transport.on(1, odd);
        const RecordingSink sink = f.ask(call("2", "eth_gasPrice"));
        CHECK(sink.head.status == 502);
        CHECK(sink.body.find("bad_upstream_reply") != std::string::npos);
    }
}

TEST_CASE("a known error and an answer leave nothing behind") {
    Fixture f(2);
    Reaction revert = result("1");
    revert.body =
        R"({"jsonrpc":"2.0","id":{id},"error":{"code":3,"message":"execution reverted","data":"0x01"}})";
    f.transport.on(0, revert);
    f.ask(call("1", "eth_call"));
    f.transport.on(0, result("\"0x1\""));
    f.ask(call("2", "eth_gasPrice"));
    CHECK(f.observations.list().empty());
}

TEST_CASE("a limit that only the client's own words speak of is nobody's limit") {
    Fixture f(2);
    Reaction quoting = result("1");
    quoting.body =
        R"({"jsonrpc":"2.0","id":{id},"error":{"code":-32000,"message":"no block rate limit exceeded"}})";
    f.transport.on(0, quoting);
    const RecordingSink sink =
        f.ask(call("1", "eth_getBlockByNumber", R"(["rate limit exceeded",false])"));
    CHECK(sink.body.find("no block rate limit exceeded") != std::string::npos);
    CHECK(f.transport.count(1) == 0);
    f.transport.on(0, result("\"0x1\""));
    CHECK(f.ask(call("2", "eth_gasPrice")).body.find("0x1") != std::string::npos);
    CHECK(f.transport.count(1) == 0);  // the first one is not cooling down
}
