#include "server/access_rules.hpp"

#include "support/catch.hpp"

using namespace weir::server;
using Kind = OriginVerdict::Kind;

TEST_CASE("hosts of a loopback listener") {
    const AccessRules rules({"node.example", "UPPER.example."}, {});
    for (const char* host : {"localhost", "LocalHost:1", "localhost.", "127.0.0.1", "127.9.9.9:1",
                             "[::1]", "[::1]:8545", "192.168.0.1", "[2001:db8::1]", "node.example",
                             "NODE.example:8545", "upper.example"}) {
        INFO(host);
        CHECK(rules.serves_host(host, Reach::loopback));
    }
    for (const char* host : {"example.com", "x.node.example", "localhost.evil.com", "127.1",
                             "0177.0.0.1", "", "::1"}) {
        INFO(host);
        CHECK_FALSE(rules.serves_host(host, Reach::loopback));
    }
    CHECK_FALSE(rules.serves_hostless());
}

TEST_CASE("hosts of other listeners") {
    const AccessRules any({}, {});
    CHECK(any.serves_host("example.com", Reach::network));
    CHECK(any.serves_hostless());
    const AccessRules listed({"node.example"}, {});
    CHECK(listed.serves_host("node.example:8545", Reach::network));
    CHECK_FALSE(listed.serves_host("localhost", Reach::network));
    CHECK_FALSE(listed.serves_host("192.168.0.1", Reach::network));
}

TEST_CASE("absolute targets name this server") {
    const AccessRules any({}, {});
    CHECK(any.serves_target("example.com", "EXAMPLE.com", Reach::network));
    CHECK_FALSE(any.serves_target("example.com", "other.com", Reach::network));
    CHECK(any.serves_target("localhost", "127.0.0.1", Reach::loopback));
    CHECK_FALSE(any.serves_target("example.com", "example.com", Reach::loopback));
}

TEST_CASE("browser origins") {
    const AccessRules none({}, {});
    const AccessRules listed({}, {"https://app.example", "chrome-extension://known"});
    const AccessRules any({}, {"*"});
    struct Case {
        const AccessRules& rules;
        const char* origin;
        Reach reach;
        Kind kind;
        const char* allow;
    };
    const Case cases[] = {
        {none, "http://localhost:3000", Reach::loopback, Kind::allowed, "http://localhost:3000"},
        {none, "https://127.0.0.1", Reach::loopback, Kind::allowed, "https://127.0.0.1"},
        {none, "http://[::1]:1", Reach::loopback, Kind::allowed, "http://[::1]:1"},
        {none, "http://localhost:3000", Reach::network, Kind::forbidden, ""},
        {none, "http://192.168.0.1", Reach::loopback, Kind::forbidden, ""},
        {none, "http://localhost.evil.com", Reach::loopback, Kind::forbidden, ""},
        {none, "http://localhost/x", Reach::loopback, Kind::forbidden, ""},
        {none, "http:localhost", Reach::loopback, Kind::forbidden, ""},
        {none, "HTTPS://evil.com", Reach::loopback, Kind::forbidden, ""},
        {none, "null", Reach::loopback, Kind::plain, ""},
        {none, "chrome-extension://abc", Reach::network, Kind::plain, ""},
        {none, "", Reach::network, Kind::plain, ""},
        {listed, "https://app.example", Reach::network, Kind::allowed, "https://app.example"},
        {listed, "https://app.example:444", Reach::network, Kind::forbidden, ""},
        {listed, "http://app.example", Reach::network, Kind::forbidden, ""},
        {listed, "chrome-extension://known", Reach::network, Kind::allowed,
         "chrome-extension://known"},
        {any, "https://evil.com", Reach::network, Kind::allowed, "*"},
        {any, "null", Reach::network, Kind::allowed, "*"},
    };
    for (const Case& one : cases) {
        INFO(one.origin);
        const OriginVerdict verdict = one.rules.judge_origin(one.origin, one.reach);
        CHECK(verdict.kind == one.kind);
        CHECK(verdict.allow_origin == one.allow);
    }
}
