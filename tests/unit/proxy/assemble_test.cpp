#include "proxy/assemble.hpp"

#include "support/catch.hpp"

using namespace weir;
using namespace weir::proxy;

namespace {

std::string joined(const ResponseBody& body) {
    std::string text;
    for (const std::string_view piece : body.pieces) {
        text += piece;
    }
    return text;
}

Answer limited(unsigned seconds) {
    GatewayError error;
    error.type = ErrorType::rate_limited;
    error.message = "slow down";
    error.retry_after_seconds = seconds;
    return Answer::failed(error);
}

}  // namespace

TEST_CASE("a single answer carries the client's id and the upstream's bytes") {
    const Answer answer = Answer::own_result("{ \"a\" : 1.0 }");
    CHECK(joined(assemble_single("1e5", answer)) ==
          R"({"jsonrpc":"2.0","id":1e5,"result":{ "a" : 1.0 }})");
}

TEST_CASE("a gateway error names its type") {
    CHECK(joined(assemble_single("", limited(2))) ==
          R"({"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"slow down",)"
          R"("data":{"type":"rate_limited"}}})");
}

TEST_CASE("a batch has one item per owed answer, in order") {
    jsonrpc::Call first{.id = "7", .method = "eth_call", .params = {}};
    jsonrpc::Call silent{.id = {}, .method = "eth_call", .params = {}};
    jsonrpc::Call last{.id = "\"x\"", .method = "eth_call", .params = {}};
    CallPlan plans[3];
    plans[0].call = &first;
    plans[1].call = &silent;
    plans[2].call = &last;
    for (CallPlan& plan : plans) {
        plan.traits = &routing::find_method("eth_call");
    }
    const Answer one = Answer::own_result("1");
    const Answer two = limited(3);
    const BatchItem items[] = {{&plans[0], &one}, {&plans[1], nullptr}, {&plans[2], &two}};
    CHECK(joined(assemble_batch(items)) ==
          R"([{"jsonrpc":"2.0","id":7,"result":1},{"jsonrpc":"2.0","id":"x","error":)"
          R"({"code":-32005,"message":"slow down","data":{"type":"rate_limited"}}}])");
    CHECK(batch_head(items).status == 200);
}

TEST_CASE("a batch is 429 only when every item that needed an upstream is limited") {
    jsonrpc::Call call{.id = "1", .method = "eth_call", .params = {}};
    CallPlan read;
    read.call = &call;
    read.traits = &routing::find_method("eth_call");
    CallPlan local;
    local.call = &call;
    local.traits = &routing::find_method("eth_chainId");
    const Answer own = Answer::own_result("1");
    const Answer two = limited(2);
    const Answer five = limited(5);
    const BatchItem all[] = {{&local, &own}, {&read, &two}, {&read, &five}};
    CHECK(batch_head(all).status == 429);
    CHECK(batch_head(all).retry_after_seconds == 5);
    const BatchItem some[] = {{&read, &two}, {&read, &own}};
    CHECK(batch_head(some).status == 200);
    const BatchItem none[] = {{&local, &own}};
    CHECK(batch_head(none).status == 200);

    CallPlan known = read;
    known.known = "1";
    CallPlan refused = read;
    refused.refusal = two.error();
    const BatchItem by_upstream[] = {{&known, &own}, {&read, &two}};
    CHECK(batch_head(by_upstream).status == 429);
    const BatchItem by_own_rate[] = {{&known, &own}, {&refused, &two}};
    CHECK(batch_head(by_own_rate).status == 200);
    const BatchItem nothing_left[] = {{&local, &own}, {&refused, &two}};
    CHECK(batch_head(nothing_left).status == 429);
}
