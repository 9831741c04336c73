#include "jsonrpc/reply.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace weir::jsonrpc;

namespace {

using State = EnvelopeScanner::State;

std::string shown(const std::optional<Range>& range) {
    if (!range) return "-";
    return std::to_string(range->begin) + ".." +
           (range->closed() ? std::to_string(range->end) : "");
}

std::string shown(const EnvelopeScanner& scanner) {
    static constexpr const char* kStates[] = {"more", "complete", "broken"};
    const Envelope& envelope = scanner.envelope();
    return std::string(kStates[static_cast<int>(scanner.state())]) + " id " + shown(envelope.id) +
           " result " + shown(envelope.result) + " error " + shown(envelope.error) +
           (envelope.error_is_null ? " null" : "");
}

}  // namespace

TEST_CASE("good replies") {
    struct Row {
        std::string body, id, result, error;
    };
    const std::vector<Row> rows = {
        {R"({"jsonrpc":"2.0","id":1,"result":"0x1"})", "1", R"("0x1")", ""},
        {R"( { "result" : { "a" : [ 1 ] } , "id" : "x" } )", R"("x")", R"({ "a" : [ 1 ] })", ""},
        {R"({"id":1,"result":null})", "1", "null", ""},
        {R"({"id":1,"result":null,"error":null})", "1", "null", ""},
        {R"({"id":1,"error":null,"result":[]})", "1", "[]", ""},
        {R"({"id":null,"error":{"code":-32000,"message":"x"}})", "null", "",
         R"({"code":-32000,"message":"x"})"},
        {R"({"error":"slow down"})", "", "", R"("slow down")"},
        {R"({"id":true,"result":false,"more":{"result":1,"error":2}})", "true", "false", ""},
        {R"({"i\u0064":123456789012345678901,"r\u0065sult":1e400})", "123456789012345678901",
         "1e400", ""},
        {R"({"id":1,"result":1,"x":1,"x":2})", "1", "1", ""},
    };
    for (const Row& row : rows) {
        INFO(row.body);
        const auto reply = parse_reply(row.body);
        REQUIRE(reply.has_value());
        CHECK(reply->id == row.id);
        CHECK(reply->result == row.result);
        CHECK(reply->error == row.error);
        CHECK(reply->is_error() == row.result.empty());
    }
}

TEST_CASE("bad replies") {
    struct Row {
        std::string body, why;
    };
    const std::vector<Row> rows = {
        {"", "not JSON: the text ends early at byte 0"},
        {"<html>", "not JSON: an unexpected character at byte 0"},
        {"[]", "the reply is not an object"},
        {"1", "the reply is not an object"},
        {"null", "the reply is not an object"},
        {R"([{"id":1,"result":1}])", "the reply is not an object"},
        {"{}", "the reply has neither a result nor an error"},
        {R"({"id":1})", "the reply has neither a result nor an error"},
        {R"({"id":1,"error":null})", "the reply has neither a result nor an error"},
        {R"({"id":1,"result":1,"error":{}})", "the reply has both a result and an error"},
        {R"({"id":1,"error":{},"result":null})", "the reply has both a result and an error"},
        {R"({"id":1,"result":1,"error":false})", "the reply has both a result and an error"},
        {R"({"id":1,"result":1,"result":1})", "a member stands twice"},
        {R"({"id":1,"result":1,"\u0072esult":1})", "a member stands twice"},
        {R"({"id":1,"id":1,"result":1})", "a member stands twice"},
        {R"({"error":null,"error":null,"result":1})", "a member stands twice"},
        {R"({"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"result":1})", "a member stands twice"},
        {R"({"id":[1],"result":1})", "the reply's id is not a scalar"},
        {R"({"id":{},"result":1})", "the reply's id is not a scalar"},
        {R"({"id":1,"result":1)", "not JSON: the text ends early at byte 18"},
        {R"({"id":1,"result":1}})", "not JSON: an unexpected character at byte 19"},
        {R"({"id":1,"result":1}{"id":1,"result":1})",
         "not JSON: an unexpected character at byte 19"},
        {R"({"id":1,"result":tru})", "not JSON: an unexpected character at byte 20"},
        {"{\"id\":1,\"result\":\"\xff\"}", "not JSON: invalid UTF-8 at byte 18"},
        {R"({"id":1,"result":)" + std::string(1100, '[') + std::string(1100, ']') + "}",
         "not JSON: nested too deep at byte 1040"},
    };
    for (const Row& row : rows) {
        INFO(row.body);
        const auto reply = parse_reply(row.body);
        REQUIRE_FALSE(reply.has_value());
        CHECK(reply.error().message == row.why);
    }
}

TEST_CASE("a reply's members are known as soon as their bytes are there") {
    const std::vector<std::pair<std::string, std::string>> steps = {
        {"{\"id", "more id - result - error -"},
        {"\":", "more id - result - error -"},
        {"1", "more id 6.. result - error -"},
        {"2", "more id 6.. result - error -"},
        {",", "more id 6..8 result - error -"},
        {"\"res\\u0075", "more id 6..8 result - error -"},
        {"lt\": ", "more id 6..8 result - error -"},
        {"[", "more id 6..8 result 24.. error -"},
        {"{\"error\":1}", "more id 6..8 result 24.. error -"},
        {"]", "more id 6..8 result 24..37 error -"},
        {",\"error\":n", "more id 6..8 result 24..37 error 46.. null"},
        {"ull", "more id 6..8 result 24..37 error 46..50 null"},
        {"}", "complete id 6..8 result 24..37 error 46..50 null"},
        {" \n", "complete id 6..8 result 24..37 error 46..50 null"},
        {"x", "broken id 6..8 result 24..37 error 46..50 null"},
    };
    EnvelopeScanner scanner;
    for (const auto& [bytes, expected] : steps) {
        INFO(bytes);
        scanner.feed(bytes);
        CHECK(shown(scanner) == expected);
    }
}

TEST_CASE("a reply may come in pieces") {
    const std::string bodies[] = {
        R"({"jsonrpc":"2.0","id":7,"result":{"a":"\u00e9","b":[1.5e3,true,null]},"x":-1})",
        R"({"jsonrpc":"2.0","\u0065rror":{"code":-32000,"message":"no"},"id":"a\"b"})",
        R"({"id":1,"result":1,"error":{}} )",
        R"({"id":1,"result":1,"\u0069\u0064":2})",
        R"([1])",
        R"({"id":1,"result":01})"};
    for (const std::string& body : bodies) {
        INFO(body);
        EnvelopeScanner whole;
        whole.feed(body);
        for (std::size_t cut = 0; cut <= body.size(); ++cut) {
            EnvelopeScanner scanner;
            scanner.feed(body.substr(0, cut));
            EnvelopeScanner moved = std::move(scanner);
            moved.feed(body.substr(cut));
            if (shown(moved) != shown(whole)) FAIL_CHECK("cut at " << cut);
        }
    }
}

TEST_CASE("a reply's depth is bounded") {
    EnvelopeScanner scanner(4);
    CHECK(scanner.feed(R"({"result":[[[)") == State::more);
    CHECK(scanner.feed("[") == State::broken);
    CHECK(scanner.feed("]") == State::broken);
}

TEST_CASE("an array of replies is split") {
    const auto items = split_array(R"( [ {"id":1,"result":[1,2]} , 5,"x",[] ] )");
    REQUIRE(items.has_value());
    CHECK(*items ==
          std::vector<std::string_view>{R"({"id":1,"result":[1,2]})", "5", R"("x")", "[]"});
    CHECK(split_array("[]")->empty());
    for (const char* bad : {"", "{}", "1", "[1", "[1,]", "[1]]", "[1}", "[01]", R"({"a":[1]})"}) {
        INFO(bad);
        CHECK_FALSE(split_array(bad).has_value());
    }
    CHECK(split_array("{}").error().message == "the reply is not an array");
}

TEST_CASE("an error object is read leniently") {
    struct Row {
        std::string error;
        std::optional<std::int64_t> code;
        std::string message, data;
    };
    const std::vector<Row> rows = {
        {R"({"code":-32000,"message":"header not found"})", -32000, "header not found", ""},
        {R"({"data":{"a":[1, 2]},"message":"x","code":3})", 3, "x", R"({"a":[1, 2]})"},
        {R"({"code":"-32005","message":"a \"b\" \u00e9\ud83d\ude00\n"})", -32005,
         "a \"b\" \xc3\xa9\xf0\x9f\x98\x80\n", ""},
        {R"({"c\u006fde":1,"message":"x","data":"0x"})", 1, "x", R"("0x")"},
        {R"({"code":null,"message":null,"data":null})", std::nullopt, "", "null"},
        {R"({"code":1.5,"message":["x"]})", std::nullopt, "", ""},
        {R"({"code":99999999999999999999,"message":{}})", std::nullopt, "", ""},
        {R"({"code":"","message":""})", std::nullopt, "", ""},
        {R"({"code":"SERVER_ERROR"})", std::nullopt, "", ""},
        {R"({"code":true})", std::nullopt, "", ""},
        {"{}", std::nullopt, "", ""},
        {R"("rate limit")", std::nullopt, "rate limit", ""},
        {"[1]", std::nullopt, "", ""},
        {"5", std::nullopt, "", ""},
        {"", std::nullopt, "", ""},
        {R"({"code":1,)", std::nullopt, "", ""},
    };
    for (const Row& row : rows) {
        INFO(row.error);
        const ErrorObject read = read_error(row.error);
        CHECK(read.code == row.code);
        CHECK(read.message == row.message);
        CHECK(read.data == row.data);
    }
}
