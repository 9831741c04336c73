// What a call counts as: in the metrics, and in what the status page tells of the last seconds.
#include "component/handler_fixture.hpp"

using namespace weir;
using namespace weir::test;

namespace {

std::uint64_t counted(Fixture& f, const std::string& method, const std::string& outcome) {
    const std::string page = f.metrics.render({});
    const std::string series = R"(weir_requests_total{chain="test",method=")" + method +
                               R"(",outcome=")" + outcome + R"("} )";
    const auto at = page.find(series);
    return at == std::string::npos ? 0 : std::stoull(page.substr(at + series.size()));
}

std::uint64_t failed(Fixture& f) { return f.pools[0]->traffic().latest(f.clock.now()).met.failed; }

}  // namespace

TEST_CASE("an error by which an upstream failed is no answer to the call: it counts as failed") {
    for (const char* error : {R"({"code":-32603,"message":"Internal error"})",
                              R"({"code":-32603,"message":"internal error"})",
                              R"({"code":-32000,"message":"request timed out"})"}) {
        CAPTURE(error);
        Fixture f(3);
        Reaction reaction;
        reaction.body = R"({"jsonrpc":"2.0","id":{id},"error":)" + std::string(error) + '}';
        for (const routing::UpstreamIndex each : {0, 1, 2}) {
            f.transport.on(each, reaction);
        }
        const RecordingSink sink = f.ask(call("1", "eth_gasPrice"));
        CHECK(sink.head.status == 200);
        CHECK(sink.head.attempts > 1);
        CHECK(sink.body == R"({"jsonrpc":"2.0","id":1,"error":)" + std::string(error) + '}');
        CHECK(counted(f, "eth_gasPrice", "upstream_error") == 1);
        CHECK(counted(f, "eth_gasPrice", "rpc_error") == 0);
        CHECK(failed(f) == 1);
        f.ask('[' + call("1", "eth_gasPrice") + ',' + call("2", "eth_gasPrice") + ']');
        CHECK(counted(f, "eth_gasPrice", "upstream_error") == 3);
        CHECK(failed(f) == 3);
    }
}

TEST_CASE("an error that answers the call, or that nobody knows, is the node's own") {
    for (const char* error : {R"({"code":3,"message":"execution reverted","data":"0x08c379a0"})",
                              R"({"code":-32603,"message":"execution reverted: rate limit"})",
                              R"({"code":-32602,"message":"invalid params"})",
                              R"({"code":-32601,"message":"the method does not exist"})",
                              R"({"code":-32000,"message":"header not found"})",
                              R"({"code":-39999,"message":"odd"})"}) {
        CAPTURE(error);
        Fixture f(2);
        Reaction reaction;
        reaction.body = R"({"jsonrpc":"2.0","id":{id},"error":)" + std::string(error) + '}';
        for (const routing::UpstreamIndex each : {0, 1}) {
            f.transport.on(each, reaction);
        }
        f.ask(call("1", "eth_call", R"([{"to":"0x1"},"latest"])"));
        CHECK(counted(f, "eth_call", "rpc_error") == 1);
        CHECK(counted(f, "eth_call", "upstream_error") == 0);
        CHECK(failed(f) == 0);
    }
}

TEST_CASE("a write that its upstream failed at counts as failed") {
    Fixture f(1);
    f.transport.on(0, rpc_error(-32603, "Internal error"));
    f.ask(call("1", "eth_sendTransaction", "[{}]"));
    CHECK(counted(f, "eth_sendTransaction", "upstream_error") == 1);
    CHECK(failed(f) == 1);
}

TEST_CASE("an upstream's failure that another one makes good is none of the client's") {
    Fixture f(2);
    f.transport.on(0, rpc_error(-32603, "Internal error"));
    f.ask(call("1", "eth_gasPrice"));
    CHECK(counted(f, "eth_gasPrice", "ok") == 1);
    CHECK(failed(f) == 0);
}
