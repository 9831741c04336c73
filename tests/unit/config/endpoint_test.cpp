#include "config/endpoint.hpp"

#include "config/names.hpp"
#include "support/catch.hpp"

using namespace weir::config;

TEST_CASE("addresses are read and printed") {
    for (const char* text : {"127.0.0.1:8545", "[::1]:8545", "localhost:0", "0.0.0.0:65535",
                             "[::]:80", "[2001:db8::1]:1"}) {
        INFO(text);
        const auto endpoint = parse_endpoint(text);
        REQUIRE(endpoint.has_value());
        CHECK(endpoint->to_string() == text);
    }
    const auto long_form = parse_endpoint("[0:0:0:0:0:0:0:1]:8545");
    REQUIRE(long_form.has_value());
    CHECK(long_form->host == "::1");
    const auto upper = parse_endpoint("LocalHost:1");
    REQUIRE(upper.has_value());
    CHECK(upper->host == "localhost");
    for (const char* bad : {"",
                            "8545",
                            ":8545",
                            "127.0.0.1",
                            "127.0.0.1:",
                            "127.0.0.1:65536",
                            "127.0.0.1:-1",
                            "127.0.0.1:+1",
                            "127.0.0.1:1x",
                            "127.0.0.1: 1",
                            "127.0.0.1:000001",
                            "::1:8545",
                            "[::1]",
                            "[::1]8545",
                            "[127.0.0.1]:1",
                            "[localhost]:1",
                            "a.example:8545",
                            "*:8545",
                            "1.2.3:1",
                            "[fe80::1%lo]:1",
                            "http://127.0.0.1:1",
                            "127.0.0.1:1:1"}) {
        INFO(bad);
        CHECK_FALSE(parse_endpoint(bad).has_value());
    }
}

TEST_CASE("loopback is recognised") {
    const auto loopback = [](const char* host) { return Endpoint{host, 1}.is_loopback(); };
    CHECK(loopback("127.0.0.1"));
    CHECK(loopback("127.8.9.10"));
    CHECK(loopback("::1"));
    CHECK(loopback("localhost"));
    CHECK(loopback("::ffff:127.0.0.1"));
    CHECK_FALSE(loopback("0.0.0.0"));
    CHECK_FALSE(loopback("::"));
    CHECK_FALSE(loopback("10.127.0.1"));
}

TEST_CASE("addresses that cannot both be bound collide") {
    const auto collides = [](Endpoint a, Endpoint b) { return collide(a, b) && collide(b, a); };
    CHECK(collides({"127.0.0.1", 1}, {"127.0.0.1", 1}));
    CHECK(collides({"127.0.0.1", 1}, {"0.0.0.0", 1}));
    CHECK(collides({"::1", 1}, {"::", 1}));
    CHECK(collides({"localhost", 1}, {"127.0.0.1", 1}));
    CHECK_FALSE(collides({"127.0.0.1", 1}, {"127.0.0.1", 2}));
    CHECK_FALSE(collides({"127.0.0.1", 0}, {"127.0.0.1", 0}));
    CHECK_FALSE(collides({"127.0.0.1", 1}, {"127.0.0.2", 1}));
    CHECK_FALSE(collides({"::1", 1}, {"127.0.0.1", 1}));
}

TEST_CASE("names keep to their grammar") {
    for (const char* good : {"a", "ethereum", "op-mainnet", "a1-"}) {
        CHECK(is_chain_name(good));
    }
    for (const char* bad : {"", "1a", "-a", "A", "a_b", "a.b", "a/b", "a b", "\xc3\xbc"}) {
        INFO(bad);
        CHECK_FALSE(is_chain_name(bad));
    }
    CHECK(is_upstream_name("Own.node_1-a"));
    CHECK_FALSE(is_upstream_name("own node"));
    CHECK_FALSE(is_upstream_name("a/b"));
    CHECK_FALSE(is_upstream_name(std::string_view("a\0b", 3)));
    CHECK(is_method_pattern("debug_*"));
    CHECK_FALSE(is_method_pattern("debug *"));
    CHECK_FALSE(is_method_pattern(""));
    CHECK(is_reserved_header("Content-LENGTH"));
    CHECK_FALSE(is_reserved_header("X-Token"));
}

TEST_CASE("origins are brought to the form that browsers send") {
    CHECK(parse_origin("*") == "*");
    CHECK(parse_origin("https://App.Example.org") == "https://app.example.org");
    CHECK(parse_origin("https://app.example.org:443") == "https://app.example.org");
    CHECK(parse_origin("http://localhost:3000") == "http://localhost:3000");
    CHECK(parse_origin("http://[::1]:3000") == "http://[::1]:3000");
    CHECK(parse_origin("chrome-extension://abcdef") == "chrome-extension://abcdef");
    for (const char* bad : {"", "null", "app.example.org", "https://", "https://a/", "https://a/b",
                            "https://*.a", "https://a:0", "https://a:x", "https://u@a", "//a",
                            "https://::1", "https://[::1", "1://a"}) {
        INFO(bad);
        CHECK_FALSE(parse_origin(bad));
    }
}
