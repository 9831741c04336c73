#include "app/probe_report.hpp"

#include "config/load.hpp"
#include "support/catch.hpp"

using namespace weir;
using namespace weir::app;

namespace {

ProbeReport archive() {
    ProbeReport report;
    report.endpoint = "a.example";
    report.name = "a.example";
    report.provider = "generic";
    report.url = "https://a.example/${KEY}";
    report.requests = 20;
    report.found.chain_id = 1;
    report.found.head = chain::BlockId{20'000'000, "0x" + std::string(64, 'a')};
    report.found.depth.has = 19'999'999;
    report.found.batch = {.taken = 10, .refused = 11, .trouble = {}};
    report.found.batch_asked = true;
    return report;
}

}  // namespace

TEST_CASE("an entry is a configuration as it stands") {
    const std::string entry = as_entry(archive());
    CHECK(entry ==
          "      - name: a.example\n"
          "        url: \"https://a.example/${KEY}\"\n"
          "        batch: {max_calls: 10}\n"
          "        history: archive\n");
    const auto environment = [](std::string_view) { return std::optional<std::string>("k"); };
    const auto loaded =
        config::load("chains:\n  - chain_id: 1\n    upstreams:\n" + entry, environment);
    REQUIRE(loaded.has_value());
    CHECK(loaded->chains[0].upstreams[0].batch.max_calls == 10);

    ProbeReport pruned = archive();
    pruned.url.reset();
    pruned.found.depth = {.has = 120, .lacks = 1000, .trouble = {}};
    pruned.found.batch.refused.reset();
    CHECK(as_entry(pruned) ==
          "      - name: a.example\n"
          "        url: \"${A_EXAMPLE_URL}\"  # holds a secret: not printed\n"
          "        history: 120\n");
    ProbeReport young = archive();
    young.found.head->number = 20;
    young.found.depth.has = 19;
    CHECK(as_entry(young).find("history") == std::string::npos);
}

TEST_CASE("the table says what was found") {
    const std::string table = as_table(archive());
    CHECK(table.find("batch           10 calls; 11 are refused\n") != std::string::npos);
    CHECK(table.find("state           archive: back to block 1\n") != std::string::npos);
    ProbeReport down;
    down.endpoint = "b.example";
    down.found.trouble = "refused";
    down.found.trouble_cause = routing::Cause::connect_failed;
    CHECK(as_table(down).find("problem         connect_failed: refused\n") != std::string::npos);
    CHECK(as_json({down}).find(R"("chain_id":null,"problem":"refused")") != std::string::npos);
}

TEST_CASE("a URL is shown as it was given only where that shows no secret") {
    for (const char* open :
         {"http://127.0.0.1:8545", "https://a.example/", "https://a.example/v2/x",
          "https://a.example/v2/${KEY}", "${URL}", "https://a.example/?k=${KEY}"}) {
        CAPTURE(open);
        const bool query = std::string_view(open).find('?') != std::string_view::npos;
        CHECK(showable_url(open).has_value() == !query);
    }
    for (const char* secret :
         {"https://u:p@a.example", "https://a.example/?k=v",
          "https://a.example/v2/0123456789abcdef", "https://a.example/${KEY:-0123456789abcdef}",
          "https://a.example/%30%31", "https://a.example/v2/0123456789abcdef/x"}) {
        CAPTURE(secret);
        CHECK_FALSE(showable_url(secret));
    }
    CHECK(proposed_name("alchemy", "eth.g.alchemy.com") == "alchemy");
    CHECK(proposed_name("generic", "a.example") == "a.example");
    CHECK(proposed_name("generic", "***.example") == "upstream");
    CHECK(proposed_name("generic", "::1") == "upstream");
}
