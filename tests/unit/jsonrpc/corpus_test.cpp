// The JSON parsing test suite against the parser alone.
#include "jsonrpc/request.hpp"
#include "support/catch.hpp"
#include "support/json_corpus.hpp"

#include <string>

using namespace weir;
using namespace weir::jsonrpc;

namespace {

bool is_blank(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

std::string call_with(const std::string& params) {
    return R"({"jsonrpc":"2.0","id":1,"method":"m","params":)" + params + "}";
}

bool is_parse_error(const std::string& body) {
    const auto request = parse_request(body, RequestLimits{});
    return !request && request.error().fault == RequestFault::parse_error;
}

// Accepted, with the params' bytes as they came.
bool is_carried(const std::string& params) {
    const std::string body = call_with(params);
    const auto request = parse_request(body, RequestLimits{});
    return request && request->calls.size() == 1 && request->calls[0].params == params &&
           request->calls[0].fault == CallFault::none;
}

}  // namespace

TEST_CASE("what is not JSON is refused, alone and as a member of params") {
    for (const auto& [name, text] : test::json_samples("n_")) {
        INFO(name);
        CHECK(is_parse_error(text));
        CHECK(is_parse_error(call_with("{\"member\":" + text + "}")));
        CHECK((is_parse_error(call_with("[" + text + "]")) || is_blank(text)));
        CHECK(is_parse_error(call_with("[1," + text + "]")));
    }
}

TEST_CASE("what is JSON is carried in params byte for byte") {
    for (const auto& [name, text] : test::json_samples("y_")) {
        INFO(name);
        CHECK(is_carried("[" + text + "]"));
        CHECK(is_carried("{\"member\":" + text + "}"));
    }
}

TEST_CASE("what RFC 8259 leaves open is decided") {
    for (const test::JsonSample& sample : test::json_samples("i_")) {
        INFO(sample.name);
        const std::string params = "[" + sample.text + "]";
        const auto decision = test::decision_on(sample);
        REQUIRE(decision.has_value());
        if (*decision == test::JsonDecision::refused) {
            CHECK(is_parse_error(call_with(params)));
        } else {
            CHECK(is_carried(params));
        }
    }
}
