#include "server/status_json.hpp"

#include "server/disagreements_json.hpp"
#include "support/catch.hpp"

using namespace weir;

TEST_CASE("what is safe and finalized is shown, and who has no such tag") {
    server::ChainStatus chain;
    chain.settled.finalized = chain::TaggedBlock{{36, "0xf"}, {}};
    upstream::UpstreamStatus with;
    with.name = "a";
    with.settled.safe = chain::TaggedBlock{{68, "0xs"}, {}};
    upstream::UpstreamStatus without;
    without.name = "b";
    without.unsupported_methods = {"eth_\u202ecall"};
    without.unsupported_tags = {chain::Tag::safe, chain::Tag::finalized};
    chain.upstreams = {with, without};
    const std::string json =
        server::status_json({.version = "1", .uptime = {}, .draining = false, .chains = {chain}});
    INFO(json);
    const auto shows = [&json](std::string_view part) { return json.find(part) != json.npos; };
    CHECK(shows(R"("head":null,"safe":null,"finalized":{"number":36,"hash":"0xf"},"upstreams")"));
    CHECK(shows(R"("safe":{"number":68,"hash":"0xs"},"finalized":null,"lag_blocks")"));
    CHECK(shows(R"("unsupported_methods":["eth_ call"])"));
    CHECK(shows(R"("unsupported_tags":[])"));
    CHECK(shows(R"("unsupported_tags":["safe","finalized"])"));
}

TEST_CASE("calls in flight, what is met now, and that it drains") {
    using namespace std::chrono_literals;
    server::ChainStatus waits;
    waits.in_flight = {.calls = 24, .late = 20, .oldest = 8s};
    waits.latest = {
        .span = 9s,
        .met = {.calls = 5, .limited = 1, .failed = 2, .gone = 3, .p50 = {}, .p95 = {}}};
    waits.over_own_rate = {{.name = "bot", .calls = 7, .latest = 3}};
    const server::ChainStatus idle;
    const std::string json = server::status_json(
        {.version = "1", .uptime = {}, .draining = true, .chains = {waits, idle}});
    INFO(json);
    const auto shows = [&json](std::string_view part) { return json.find(part) != json.npos; };
    CHECK(shows(R"("draining":true)"));
    CHECK(shows(R"("over_own_rate":[{"client":"bot","calls":7,"latest":3}])"));
    CHECK(shows(R"("in_flight":{"calls":24,"late":20,"oldest_seconds":8)"));
    CHECK(shows(R"("latest":{"seconds":9.000,"calls":5,"limited":1,"failed":2,"gone":3})"));
    CHECK(shows(R"("in_flight":{"calls":0,"late":0,"oldest_seconds":null})"));
}

TEST_CASE("the heights of disagreements are whole numbers") {
    server::ChainDisagreements of{.chain = "test", .upstreams = {"a", "b"}, .kept = {}};
    of.kept.push_back({.kind = chain::DisagreementKind::reorg,
                       .upstream = 0,
                       .block = {22000015, "0xa"},
                       .other = 1,
                       .other_hash = "0xb",
                       .detail = "",
                       .at = {}});
    const std::string json = server::disagreements_json({of}, {}, {});
    INFO(json);
    CHECK(json.find(R"("number":22000015,)") != json.npos);
}
