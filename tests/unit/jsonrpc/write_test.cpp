#include "jsonrpc/write.hpp"

#include "jsonrpc/reply.hpp"
#include "jsonrpc/request.hpp"
#include "support/catch.hpp"

#include <span>
#include <string>
#include <string_view>

using namespace weir::jsonrpc;

TEST_CASE("a call is written around its params") {
    std::string out;
    append_call_head(out, 18446744073709551615U, "eth_call", Params::follow);
    CHECK(out == R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"eth_call","params":)");
    out += "[1]}";
    const auto request = parse_request(out, RequestLimits{});
    REQUIRE(request.has_value());
    CHECK(request->calls[0].fault == CallFault::none);
    CHECK(request->calls[0].params == "[1]");

    out.clear();
    append_call_head(out, 0, "net_version", Params::none);
    CHECK(out == R"({"jsonrpc":"2.0","id":0,"method":"net_version")");
}

TEST_CASE("pieces say what is written in one") {
    const auto joined = [](std::span<const std::string_view> pieces) {
        std::string text;
        for (const std::string_view piece : pieces) text += piece;
        return text;
    };
    for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{10}, ~std::uint64_t{0}}) {
        std::string call;
        append_call_head(call, id, "eth_call", Params::follow);
        CHECK(joined(CallPieces(id, "eth_call", "[1]").get()) == call + "[1]}");
        call.clear();
        append_call_head(call, id, "a.b-C_9", Params::none);
        CHECK(joined(CallPieces(id, "a.b-C_9", "").get()) == call + '}');
    }
    for (const char* const id : {"", "7", "\"a\""}) {
        std::string reply;
        append_result_head(reply, id);
        CHECK(joined(reply_pieces(id, Outcome::result, "[]")) == reply + "[]}");
        reply.clear();
        append_error_head(reply, id);
        CHECK(joined(reply_pieces(id, Outcome::error, "{}")) == reply + "{}}");
    }
}

TEST_CASE("a reply is written with the id as it came") {
    std::string out;
    append_result_head(out, "1.50");
    CHECK(out == R"({"jsonrpc":"2.0","id":1.50,"result":)");
    out.clear();
    append_error_head(out, R"("a\u0062")");
    CHECK(out == R"({"jsonrpc":"2.0","id":"a\u0062","error":)");
    out.clear();
    append_result_head(out, "");
    CHECK(out == R"({"jsonrpc":"2.0","id":null,"result":)");
}

TEST_CASE("an error is written whole") {
    std::string out;
    append_error(out, "7", -32603, "no \"upstream\"", R"({"type":"no_upstream"})");
    CHECK(out == R"({"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"no \"upstream\"",)"
                 R"("data":{"type":"no_upstream"}}})");
    const auto reply = parse_reply(out);
    REQUIRE(reply.has_value());
    CHECK(read_error(reply->error).code == -32603);
    out.clear();
    append_error(out, "", -2147483647 - 1, "", "");
    CHECK(out == R"({"jsonrpc":"2.0","id":null,"error":{"code":-2147483648,"message":""}})");
}
