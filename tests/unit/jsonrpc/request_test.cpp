#include "jsonrpc/request.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace weir::jsonrpc;

namespace {

constexpr RequestLimits kLimits;

const char* name_of(CallFault fault) {
    switch (fault) {
        case CallFault::none:
            return "ok";
        case CallFault::invalid:
            return "invalid";
        case CallFault::duplicate_member:
            return "duplicate";
        case CallFault::bad_method_name:
            return "bad name";
    }
    return "?";
}

const char* name_of(RequestFault fault) {
    switch (fault) {
        case RequestFault::parse_error:
            return "parse error";
        case RequestFault::empty_batch:
            return "empty batch";
        case RequestFault::too_many_calls:
            return "too many";
        case RequestFault::not_a_call:
            return "not a call";
    }
    return "?";
}

// A request in a line: `fault id method params`, calls in order, a batch in brackets.
std::string summary(std::string_view body, const RequestLimits& limits = kLimits) {
    const auto request = parse_request(body, limits);
    if (!request) return name_of(request.error().fault);
    std::string line;
    for (const Call& call : request->calls) {
        if (!line.empty()) line += "; ";
        line += name_of(call.fault);
        line += call.is_notification() ? " notification" : " " + std::string(call.id);
        if (call.fault == CallFault::none) {
            line += ' ' + std::string(call.method) + ' ' + std::string(call.params);
        }
    }
    return request->is_batch ? '[' + line + ']' : line;
}

struct Row {
    std::string body;
    std::string expected;
};

void check(const std::vector<Row>& rows) {
    for (const auto& [body, expected] : rows) {
        INFO(body);
        CHECK(summary(body) == expected);
    }
}

// A call with these further members.
std::string with(const std::string& members) { return R"({"jsonrpc":"2.0",)" + members + "}"; }

}  // namespace

TEST_CASE("the examples of the JSON-RPC 2.0 text") {
    check({
        {R"({"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1})",
         "ok 1 subtract [42, 23]"},
        {R"({"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2})",
         "ok 2 subtract [23, 42]"},
        {R"({"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3})",
         R"(ok 3 subtract {"subtrahend": 23, "minuend": 42})"},
        {R"({"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4})",
         R"(ok 4 subtract {"minuend": 42, "subtrahend": 23})"},
        {R"({"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]})",
         "ok notification update [1,2,3,4,5]"},
        {R"({"jsonrpc": "2.0", "method": "foobar"})", "ok notification foobar "},
        {R"({"jsonrpc": "2.0", "method": "foobar", "id": "1"})", R"(ok "1" foobar )"},
        {R"({"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz])", "parse error"},
        {R"({"jsonrpc": "2.0", "method": 1, "params": "bar"})", "invalid "},
        {"[\n  {\"jsonrpc\": \"2.0\", \"method\": \"sum\", \"params\": [1,2,4], \"id\": \"1\"},\n"
         "  {\"jsonrpc\": \"2.0\", \"method\"\n]",
         "parse error"},
        {"[]", "empty batch"},
        {"[1]", "[invalid ]"},
        {"[1,2,3]", "[invalid ; invalid ; invalid ]"},
        {R"([
            {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
            {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
            {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
            {"foo": "boo"},
            {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
            {"jsonrpc": "2.0", "method": "get_data", "id": "9"}
        ])",
         R"([ok "1" sum [1,2,4]; ok notification notify_hello [7]; ok "2" subtract [42,23]; )"
         R"(invalid ; ok "5" foo.get {"name": "myself"}; ok "9" get_data ])"},
        {R"([{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},)"
         R"({"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}])",
         "[ok notification notify_sum [1,2,4]; ok notification notify_hello [7]]"},
    });
}

TEST_CASE("an id is a scalar and keeps its bytes") {
    for (const std::string id :
         {"0", "-1", "1.50", "1e400", "18446744073709551615", "18446744073709551616",
          "123456789012345678901234567890", "-0.0E-0", "null", R"("")", R"("a\"b\u00e9\n")",
          "\"\xc3\xa9\"", R"("\ud800")"}) {
        INFO(id);
        CHECK(summary(with(R"("id":)" + id + R"(,"method":"m")")) == "ok " + id + " m ");
        CHECK(summary(with(R"("method":"m","id" : )" + id + " ")) == "ok " + id + " m ");
    }
    for (const std::string id : {"[]", "{}", "true", "false", "[1]", R"({"id":1})"}) {
        INFO(id);
        CHECK(summary(with(R"("id":)" + id + R"(,"method":"m")")) == "invalid ");
    }
}

TEST_CASE("a call's form") {
    check({
        // jsonrpc
        {R"({"id":1,"method":"m"})", "invalid 1"},
        {R"({"jsonrpc":"1.0","id":1,"method":"m"})", "invalid 1"},
        {R"({"jsonrpc":2.0,"id":1,"method":"m"})", "invalid 1"},
        {R"({"jsonrpc":null,"id":1,"method":"m"})", "invalid 1"},
        {R"({"jsonrpc":["2.0"],"id":1,"method":"m"})", "invalid 1"},
        {R"({"jsonrpc":"2.0 ","id":1,"method":"m"})", "invalid 1"},
        {R"({"jsonrpc":"\u0032.\u0030","id":1,"method":"m"})", "ok 1 m "},
        {R"({"JSONRPC":"2.0","id":1,"method":"m"})", "invalid 1"},
        // method
        {with(R"("id":1)"), "invalid 1"},
        {with(R"("id":1,"method":null)"), "invalid 1"},
        {with(R"("id":1,"method":["m"])"), "invalid 1"},
        {with(R"("id":1,"method":"")"), "bad name 1"},
        {with(R"("id":1,"method":"a b")"), "bad name 1"},
        {with(R"("id":1,"method":"a/b")"), "bad name 1"},
        {with(R"("id":1,"method":"a\u0000")"), "bad name 1"},
        {with("\"id\":1,\"method\":\"\xc3\xa9\""), "bad name 1"},
        {with(R"("id":1,"method":"Az09_.-")"), "ok 1 Az09_.- "},
        {with(R"("id":1,"method":"eth\u005fcall")"), "ok 1 eth_call "},
        {with(R"("id":1,"method":")" + std::string(128, 'a') + '"'),
         "ok 1 " + std::string(128, 'a') + ' '},
        {with(R"("id":1,"method":")" + std::string(129, 'a') + '"'), "bad name 1"},
        // params
        {with(R"("id":1,"method":"m","params":null)"), "ok 1 m null"},
        {with(R"("id":1,"method":"m","params": [ 1 , "\u00e9" ] )"), R"(ok 1 m [ 1 , "\u00e9" ])"},
        {with(R"("id":1,"method":"m","params":{})"), "ok 1 m {}"},
        {with(R"("id":1,"method":"m","params":"x")"), "invalid 1"},
        {with(R"("id":1,"method":"m","params":1)"), "invalid 1"},
        {with(R"("id":1,"method":"m","params":false)"), "invalid 1"},
        // names within params are not the call's
        {with(R"("id":1,"method":"m","params":{"id":2,"method":"n","params":[],"jsonrpc":"1"})"),
         R"(ok 1 m {"id":2,"method":"n","params":[],"jsonrpc":"1"})"},
        {with(R"("id":1,"method":"m","x":{"method":"n"},"y":[{"id":3}],"":0)"), "ok 1 m "},
        // escaped names are names
        {R"({"\u006asonrpc":"2.0","\u0069\u0064":7,"m\u0065thod":"m","par\u0061ms":[1]})",
         "ok 7 m [1]"},
        // faults with an answer although there is no id
        {R"({"method":"m"})", "invalid "},
        {with(R"("method":"a b")"), "bad name "},
    });
}

TEST_CASE("a member that stands twice spoils the call") {
    check({
        {with(R"("id":1,"id":1,"method":"m")"), "duplicate "},
        {with(R"("id":1,"\u0069d":2,"method":"m")"), "duplicate "},
        {with(R"("id":1,"id":2,"id":3,"method":"m")"), "duplicate "},
        {with(R"("id":1,"method":"m","method":"n")"), "duplicate 1"},
        {with(R"("method":"m","meth\u006fd":"n","id":1)"), "duplicate 1"},
        {with(R"("id":1,"method":"m","params":[],"params":[])"), "duplicate 1"},
        {with(R"("id":1,"method":"m","jsonrpc":"2.0")"), "duplicate 1"},
        {with(R"("id":[],"method":"m","jsonrpc":"2.0")"), "duplicate "},
        {with(R"("method":"m","method":"m")"), "duplicate "},
        {with(R"("id":1,"method":"m","x":1,"x":2)"), "ok 1 m "},
    });
}

TEST_CASE("an element of params is found wherever the call stands") {
    struct Row {
        std::string params;
        std::vector<std::string> elements;  // and none behind them
    };
    for (const Row& row : {
             Row{"[]", {}},
             Row{"{}", {}},
             Row{R"({"0":1,"a":[2,3]})", {}},
             Row{"null", {}},
             Row{R"(["0x1"])", {R"("0x1")"}},
             Row{R"([ {"a":[1,{"b":[]}],"params":["x"]} , "latest" ])",
                 {R"({"a":[1,{"b":[]}],"params":["x"]})", R"("latest")"}},
             Row{"[[],[[1]],-1.5e3,true,{}]", {"[]", "[[1]]", "-1.5e3", "true", "{}"}},
             Row{R"(["a\"]","\u005b",3])", {R"("a\"]")", R"("\u005b")", "3"}},
         }) {
        const std::string alone =
            R"({"jsonrpc":"2.0","id":[1,2],"params":)" + row.params + R"(,"x":[7,8],"method":"m"})";
        for (const std::string& body : {alone, '[' + alone + ']', "[0," + alone + ",[4]]"}) {
            INFO(body);
            const auto request = parse_request(body, kLimits);
            REQUIRE(request.has_value());
            const Call& call = request->calls[body.starts_with("[0") ? 1 : 0];
            CHECK(call.params == row.params);
            for (std::size_t i = 0; i <= row.elements.size(); ++i) {
                CHECK(call.param(i) == (i < row.elements.size() ? row.elements[i] : ""));
            }
        }
    }
}

TEST_CASE("a batch") {
    const std::string good = with(R"("id":1,"method":"m")");
    check({
        {"[" + good + "]", "[ok 1 m ]"},
        {" [ " + good + " , " + good + " ] ", "[ok 1 m ; ok 1 m ]"},
        {"[" + good + R"(,null,"x",[],[)" + good + R"(],{},{"id":5}])",
         "[ok 1 m ; invalid ; invalid ; invalid ; invalid ; invalid ; invalid 5]"},
        {"[" + with(R"("id":[],"method":"m")") + "," + with(R"("id":2,"method":"m","id":2)") + "]",
         "[invalid ; duplicate ]"},
        {"[" + good + ",]", "parse error"},
        {"[" + good, "parse error"},
        {"[" + good + "]]", "parse error"},
        {"[" + good + "," + good + "x]", "parse error"},
        {" [ ] ", "empty batch"},
    });
    const RequestLimits two{512, 2};
    CHECK(summary("[" + good + "," + good + "]", two) == "[ok 1 m ; ok 1 m ]");
    CHECK(summary("[" + good + "," + good + "," + good + "]", two) == "too many");
    CHECK(summary("[1,2,3]", two) == "too many");
    CHECK(summary("[1,2,3,}", two) == "parse error");
    CHECK(summary(good, RequestLimits{512, 0}) == "ok 1 m ");
}

TEST_CASE("a body that is no request") {
    check({{"", "parse error"},
           {" \r\n\t", "parse error"},
           {"1", "not a call"},
           {" null ", "not a call"},
           {R"("x")", "not a call"},
           {"tru", "parse error"},
           {"{}", "invalid "},
           {with(R"("id":1,"method":"m")") + "{}", "parse error"},
           {with(R"("id":1,"method":"m")") + '\0', "parse error"},
           {"\xEF\xBB\xBF{}", "parse error"},
           {with(R"("id":1,"method":"m","params":[1 2 3,,tru])"), "parse error"},
           {with(R"("id":1,"method":"m","params":[1})"), "parse error"},
           {with(R"("id":01x,"method":"m")"), "parse error"}});
}

TEST_CASE("depth counts every bracket of the body") {
    const auto nested = [](std::size_t depth) {
        return with(R"("id":1,"method":"m","params":)" + std::string(depth - 1, '[') +
                    std::string(depth - 1, ']'));
    };
    CHECK(parse_request(nested(512), kLimits).has_value());
    CHECK(summary(nested(513)) == "parse error");
    CHECK(summary("[" + nested(512) + "]") == "parse error");
    CHECK(summary(std::string(5'000'000, '[')) == "parse error");
}

TEST_CASE("a request moves with its decoded names") {
    const std::string body = "[" + with(R"("id":1,"method":"a\u0062c")") + "," +
                             with(R"("id":2,"method":"d\u0065f")") + "]";
    auto parsed = parse_request(body, kLimits);
    REQUIRE(parsed.has_value());
    Request moved = std::move(*parsed);
    const Request again = std::move(moved);
    CHECK(again.calls[0].method == "abc");
    CHECK(again.calls[1].method == "def");
}

TEST_CASE("a parse error says where, and a fault says why") {
    const auto broken = parse_request(R"({"secret":"word",})", kLimits);
    REQUIRE_FALSE(broken.has_value());
    CHECK(broken.error().message == "not JSON: an unexpected character at byte 17");
    const auto faulty = parse_request("{}", kLimits);
    REQUIRE(faulty.has_value());
    CHECK(std::string(faulty->calls[0].reason) == "jsonrpc is missing; it must be \"2.0\"");
}
