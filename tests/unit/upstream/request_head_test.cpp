#include "upstream/request_head.hpp"

#include "support/catch.hpp"

using namespace weir;
using core::Secret;

namespace {

config::Upstream example() {
    config::Upstream made;
    made.url.host = "node.example";
    made.url.port = 8545;
    made.url.target = Secret("/v2/key?a=b");
    return made;
}

}  // namespace

TEST_CASE("a request's head is a fixed set of fields") {
    config::Upstream made = example();
    made.url.authorization = Secret("Basic eDp5");
    made.headers = {{"X-Token", Secret("t")}, {"user-agent", Secret("mine")}};
    const auto head = upstream::make_request_head(made);
    REQUIRE(head.has_value());
    CHECK(head->bytes == "POST /v2/key?a=b HTTP/1.1\r\nHost: " + made.url.host_header() +
                             "\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
                             "Accept-Encoding: identity\r\nAuthorization: Basic eDp5\r\n"
                             "X-Token: t\r\nuser-agent: mine\r\nContent-Length: ");
}

TEST_CASE("headers that would change the message's framing are refused") {
    for (const char* name : {"Content-Length", "transfer-encoding", "Connection", "Expect", "TE",
                             "Upgrade", "a b", "", "a:b"}) {
        INFO(name);
        config::Upstream made = example();
        made.headers = {{name, Secret("x")}};
        CHECK_FALSE(upstream::make_request_head(made).has_value());
    }
    config::Upstream made = example();
    made.headers = {{"X", Secret("a\r\nB: c")}};
    const auto head = upstream::make_request_head(made);
    REQUIRE_FALSE(head.has_value());
    CHECK(head.error().message.find("B: c") == std::string::npos);
}
