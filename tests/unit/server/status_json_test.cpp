#include "server/status_json.hpp"

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
    without.unsupported_tags = {chain::Tag::safe, chain::Tag::finalized};
    chain.upstreams = {with, without};
    const std::string json = server::status_json({.version = "1", .uptime = {}, .chains = {chain}});
    INFO(json);
    const auto shows = [&json](std::string_view part) { return json.find(part) != json.npos; };
    CHECK(shows(R"("head":null,"safe":null,"finalized":{"number":36,"hash":"0xf"},"upstreams")"));
    CHECK(shows(R"("safe":{"number":68,"hash":"0xs"},"finalized":null,"lag_blocks")"));
    CHECK(shows(R"("unsupported_tags":[])"));
    CHECK(shows(R"("unsupported_tags":["safe","finalized"])"));
}
