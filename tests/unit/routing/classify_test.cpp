#include "routing/classify.hpp"

#include "config/providers.hpp"
#include "support/catch.hpp"

#include <string>

using namespace weir;
using namespace weir::routing;
using namespace std::chrono_literals;

namespace {

using enum Disposition;

const Profile& generic() {
    static const ProviderBook kBook(config::built_in_providers());
    return kBook.get("generic");
}

CallSent sent(const char* method, const char* params = "[]") {
    return {.method = method, .traits = find_method(method), .params = params};
}

Verdict judge(const char* method, int status, const std::string& body, HttpHead head = {}) {
    HttpReply reply;
    reply.head = std::move(head);
    reply.head.status = status;
    reply.body = body;
    const auto parsed = jsonrpc::parse_reply(body);
    if (parsed && (*parsed).id == "1") {
        reply.reply = *parsed;
    }
    return classify(generic(), sent(method), reply);
}

std::string error_body(const std::string& members) {
    return R"({"jsonrpc":"2.0","id":1,"error":{)" + members + "}}";
}

}  // namespace

TEST_CASE("a result with the call's id is the answer, whatever the status and the bytes say") {
    for (const char* result : {"null", "[]", R"("0x1")", R"("rate limit exceeded")",
                               R"({"error":{"code":429,"message":"too many requests"}})"}) {
        for (const int status : {200, 400, 429, 500, 503}) {
            INFO(result << " under " << status);
            const Verdict verdict =
                judge("eth_call", status,
                      std::string(R"({"jsonrpc":"2.0","id":1,"result":)") + result + "}");
            CHECK(verdict.disposition == answer);
            CHECK(verdict.cause == Cause::answered);
            CHECK(verdict.blame == Blame::nobody);
        }
    }
    CHECK(judge("eth_call", 200, R"({"id":1,"result":"0x","error":null})").cause ==
          Cause::answered);
}

TEST_CASE("error objects by their words and codes") {
    struct Row {
        const char* method;
        int status;
        const char* error;
        Cause cause;
        Disposition disposition;
        Blame blame;
    };
    const Blame upstream = Blame::upstream;
    const Blame client = Blame::client;
    const Blame nobody = Blame::nobody;
    for (
        const Row& row : {
            // The call's own outcome.
            Row{"eth_call", 200, R"("code":3,"message":"execution reverted","data":"0x08c379a0")",
                Cause::reverted, answer, client},
            Row{"eth_call", 429, R"("code":3,"message":"execution reverted: rate limit exceeded")",
                Cause::reverted, answer, client},
            Row{"eth_call", 200,
                R"("code":-32000,"message":"execution reverted: too many requests")",
                Cause::reverted, answer, client},
            Row{"eth_call", 200,
                R"("code":-32015,"message":"VM execution error.","data":"Reverted 0x")",
                Cause::reverted, answer, client},
            Row{"eth_call", 200, R"("code":3,"message":"boom","data":"0x12345678")",
                Cause::reverted, answer, client},
            Row{"eth_call", 500, R"("code":-32602,"message":"invalid argument 0: rate limit")",
                Cause::invalid_params, answer, client},
            Row{"eth_getLogs", 200,
                R"("code":-32005,"message":"query returned more than 10000 results")",
                Cause::response_too_large, answer, client},
            Row{"eth_getLogs", 413,
                R"("code":-32614,"message":"eth_getLogs is limited to a 10,000 range")",
                Cause::range_too_large, answer, client},
            Row{"eth_sendRawTransaction", 200,
                R"("code":-32000,"message":"nonce too low: next nonce 5")", Cause::nonce_too_low,
                answer, client},
            Row{"eth_sendRawTransaction", 200, R"("code":-32000,"message":"already known")",
                Cause::already_known, answer, client},
            Row{"eth_sendRawTransaction", 200,
                R"("code":-32005,"message":"Transaction gas limit exceeds block gas limit")",
                Cause::tx_rejected, answer, client},
            // No rule: the answer, unchanged.
            Row{"eth_call", 200, R"("code":-32000,"message":"server error")", Cause::unknown,
                answer, nobody},
            Row{"eth_call", 200, R"("code":-32005,"message":"something else")", Cause::unknown,
                answer, nobody},
            Row{"eth_call", 200, R"("code":-32603,"message":"failed to unmarshal the frobnicator")",
                Cause::unknown, answer, nobody},
            Row{"eth_call", 400, R"("code":-1,"message":"")", Cause::unknown, answer, nobody},
            // Limits, plans, credentials.
            Row{"eth_call", 200, R"("code":-32005,"message":"Rate limit exceeded")",
                Cause::rate_limited, try_another, nobody},
            Row{"eth_call", 200, R"("code":429,"message":"slow down")", Cause::rate_limited,
                try_another, nobody},
            Row{"eth_call", 200, R"("code":"429","message":"slow down")", Cause::rate_limited,
                try_another, nobody},
            Row{"eth_call", 429, R"("code":-32000,"message":"slow down")", Cause::rate_limited,
                try_another, nobody},
            Row{"eth_sendRawTransaction", 429, R"("code":-32005,"message":"rate limit exceeded")",
                Cause::rate_limited, give_up, nobody},
            Row{"eth_call", 403, R"("code":-32600,"message":"Monthly capacity limit exceeded.")",
                Cause::quota_exhausted, try_another, nobody},
            Row{"eth_call", 429,
                R"("code":-32005,"message":"daily request count exceeded, request rate limited")",
                Cause::quota_exhausted, try_another, nobody},
            Row{"eth_call", 402, R"("code":402,"message":"Payment is required")",
                Cause::quota_exhausted, try_another, nobody},
            Row{"eth_call", 401, R"("code":-32016,"message":"no")", Cause::auth_failed, try_another,
                upstream},
            Row{"eth_call", 200, R"("code":-32000,"message":"Unauthorized")", Cause::auth_failed,
                try_another, upstream},
            // What the upstream lacks.
            Row{"eth_call", 200,
                R"("code":-32601,"message":"the method eth_x does not exist/is not available")",
                Cause::method_unsupported, try_another, nobody},
            Row{"anvil_mine", 200, R"("code":-32601,"message":"Method not found")",
                Cause::method_unsupported, try_another, nobody},
            Row{"eth_sendRawTransaction", 200, R"("code":-32601,"message":"Method not found")",
                Cause::method_unsupported, answer, nobody},
            Row{"trace_block", 429,
                R"("code":-32012,"message":"cu limit exceeded; Method \"trace_block\" is not available for unregistered users")",
                Cause::plan_lacks_method, try_another, nobody},
            Row{"eth_call", 200, R"("code":-32000,"message":"missing trie node abc")",
                Cause::state_missing, try_another, nobody},
            Row{"eth_call", 200, R"("code":-32000,"message":"header not found")",
                Cause::block_unknown, try_another, nobody},
            // Passing trouble.
            Row{"eth_call", 200, R"("code":-32603,"message":"Internal error")", Cause::server_error,
                try_another, upstream},
            Row{"eth_call", 500, R"("code":-32000,"message":"whatever")", Cause::server_error,
                try_another, upstream},
            Row{"anvil_mine", 200, R"("code":-32603,"message":"Internal error")",
                Cause::server_error, answer, upstream},
            Row{"eth_sendRawTransaction", 500, R"("code":-32603,"message":"internal server error")",
                Cause::server_error, answer, upstream},
            Row{"eth_call", 503,
                R"("code":-32000,"message":"Request timed out. Client should retry.")",
                Cause::timeout, try_another, upstream},
        }) {
        INFO(row.method << " " << row.status << " " << row.error);
        const Verdict verdict = judge(row.method, row.status, error_body(row.error));
        CHECK(to_string(verdict.cause) == to_string(row.cause));
        CHECK(verdict.disposition == row.disposition);
        CHECK(verdict.blame == row.blame);
    }
}

TEST_CASE("a body that does not answer the call is judged by what it says of the upstream") {
    struct Row {
        int status;
        const char* body;
        Cause cause;
    };
    for (
        const Row& row : {
            Row{200, "", Cause::bad_reply},
            Row{200, "<html>502</html>", Cause::bad_reply},
            Row{200, "{\"id\":1,\"result\":", Cause::bad_reply},
            Row{200, R"({"jsonrpc":"2.0","id":2,"result":"0x1"})", Cause::bad_reply},
            Row{200, R"({"jsonrpc":"2.0","id":1})", Cause::bad_reply},
            Row{200, R"({"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1}})", Cause::bad_reply},
            Row{200,
                R"({"jsonrpc":"2.0","id":2,"error":{"code":3,"message":"execution reverted"}})",
                Cause::bad_reply},
            Row{400, "nonsense", Cause::bad_reply},
            Row{404, "<html>not found</html>", Cause::bad_reply},
            Row{500, "", Cause::server_error},
            Row{502, "<html>rate limit</html>", Cause::server_error},
            Row{503, "service unavailable", Cause::server_error},
            Row{200, "internal error, please try again later", Cause::server_error},
            Row{408, "", Cause::timeout},
            Row{504, "<html/>", Cause::timeout},
            Row{524, "error code: 524", Cause::timeout},
            Row{401, "Authorization Required", Cause::auth_failed},
            Row{403, "Forbidden", Cause::auth_failed},
            Row{403, "error code: 1010", Cause::auth_failed},
            Row{402, "pay", Cause::quota_exhausted},
            Row{429, "<html>Too many</html>", Cause::rate_limited},
            Row{429, "", Cause::rate_limited},
            Row{200, "error code: 1015", Cause::rate_limited},
            Row{403, "error code: 1015\n", Cause::rate_limited},
            Row{429, R"({"message":"API rate limit exceeded"})", Cause::rate_limited},
            Row{200, R"({"code":429,"message":"too many requests"})", Cause::rate_limited},
            Row{200,
                R"({"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"rate limit exceeded"}})",
                Cause::rate_limited},
            Row{200,
                R"([{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch too large"}}])",
                Cause::bad_reply},  // of a call that was in no batch
            Row{200, R"({"error":"message: API key not found"})", Cause::auth_failed},
        }) {
        INFO(row.status << " " << row.body);
        const Verdict verdict = judge("eth_call", row.status, row.body);
        CHECK(to_string(verdict.cause) == to_string(row.cause));
        CHECK(verdict.disposition != answer);
        const Verdict write = judge("eth_sendRawTransaction", row.status, row.body);
        CHECK(to_string(write.cause) == to_string(row.cause));
        CHECK(verdict.disposition == try_another);
        CHECK(write.disposition == give_up);
    }
}

TEST_CASE("an error that is no object is a bad reply, but for what its words say") {
    struct Row {
        int status;
        const char* error;
        Cause cause;
        Blame blame;
    };
    for (const Row& row : {
             Row{200, "7", Cause::bad_reply, Blame::upstream},
             Row{200, "true", Cause::bad_reply, Blame::upstream},
             Row{200, "[]", Cause::bad_reply, Blame::upstream},
             Row{200, R"("text")", Cause::bad_reply, Blame::upstream},
             Row{200, R"("")", Cause::bad_reply, Blame::upstream},
             Row{429, "7", Cause::rate_limited, Blame::nobody},
             Row{500, "7", Cause::server_error, Blame::upstream},
             Row{200, R"("rate limit exceeded")", Cause::rate_limited, Blame::nobody},
             Row{200, R"("execution reverted")", Cause::reverted, Blame::client},
             Row{200, R"("missing trie node abc")", Cause::state_missing, Blame::nobody},
         }) {
        INFO(row.error << " under " << row.status);
        const Verdict verdict =
            judge("eth_call", row.status,
                  std::string(R"({"jsonrpc":"2.0","id":1,"error":)") + row.error + "}");
        CHECK(verdict.cause == row.cause);
        CHECK(verdict.blame == row.blame);
    }
    const Verdict sent_once = judge("eth_sendRawTransaction", 200, R"({"id":1,"error":"text"})");
    CHECK(sent_once.disposition == give_up);
    CHECK(sent_once.cause == Cause::bad_reply);
}

TEST_CASE("a failed transport: a write goes elsewhere only when nothing of it was sent") {
    using Sent = TransportFailure::Sent;
    for (const Cause cause : {Cause::timeout, Cause::connection_lost, Cause::bad_reply}) {
        const TransportFailure failure{cause, Sent::something, ""};
        CHECK(classify(generic(), sent("eth_call"), failure).disposition == try_another);
        CHECK(classify(generic(), sent("eth_call"), failure).blame == Blame::upstream);
        CHECK(classify(generic(), sent("eth_sendRawTransaction"), failure).disposition == give_up);
        CHECK(classify(generic(), sent("anvil_mine"), failure).disposition == give_up);
        CHECK(classify(generic(), sent("eth_getFilterChanges"), failure).disposition == give_up);
    }
    const TransportFailure unsent{Cause::connect_failed, Sent::nothing, ""};
    CHECK(classify(generic(), sent("eth_sendRawTransaction"), unsent).disposition == try_another);
    CHECK(classify(generic(), sent("eth_call"), unsent).cause == Cause::connect_failed);
}

TEST_CASE("a limit carries the provider's own wait") {
    HttpHead head;
    head.retry_after = "3";
    const std::string body = error_body(R"("code":-32005,"message":"rate limit, retry in 9s")");
    CHECK(judge("eth_call", 429, body, head).retry_after == core::Duration(3s));
    head.retry_after = "-3";
    CHECK(judge("eth_call", 429, body, head).retry_after == core::Duration(9s));
    head.retry_after = "60";
    CHECK_FALSE(judge("eth_call", 502, "<html/>", head).retry_after.has_value());
    CHECK(judge("eth_call", 429, "<html/>", head).retry_after == core::Duration(60s));
    CHECK_FALSE(judge("eth_call", 429, "", {}).retry_after.has_value());
}

TEST_CASE("no bytes crash the classifier") {
    for (const std::string& body :
         {std::string("["), std::string("[[[[[[["), std::string("{\"error\":[]}"),
          std::string("{\"error\":{\"message\":{}}}"), std::string(1 << 20, '{'),
          std::string("\0\xff", 2), std::string("{\"error\":\"\\ud800\"}")}) {
        CHECK(judge("eth_call", 200, body).disposition != answer);
    }
}
