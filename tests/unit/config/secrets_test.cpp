#include "config/secrets.hpp"

#include "config/describe.hpp"
#include "loading.hpp"
#include "support/catch.hpp"

#include <algorithm>

using namespace weir::config;
using namespace weir::config::testing;

namespace {

// A value that no message may hold, nor any ten characters of it.
const std::string kCanary = "c4n4ry-0123456789abcdef-THE-END";

bool leaks(const std::string& text) {
    for (std::size_t i = 0; i + 10 <= kCanary.size(); ++i) {
        if (text.find(kCanary.substr(i, 10)) != std::string::npos) {
            return true;
        }
    }
    return false;
}

std::vector<std::string> revealed(const Config& config) {
    std::vector<std::string> values;
    for (const Secret& secret : config.secrets) {
        values.push_back(secret.reveal());
    }
    return values;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

TEST_CASE("no message holds a value, wherever it stands") {
    const std::vector<std::string> templates = {
        "@",
        "@: 1",
        "{@: {}}",
        "- @",
        "chains: @",
        "chains: [@]",
        "chains: [{@: 1}]",
        "server: {listen: @, threads: @, allowed_hosts: [' @'], cors_origins: [@], max_body: @}",
        "server: {idle_timeout: @, @: 1}",
        "server: {listen: [@, 'x@']}",
        "admin: {listen: @, token: '@ @'}",
        "log: {level: @, format: @, sample: @}",
        "clients: [{tokens: [@]}]",
        "@: @\n@: @",
        "chains: [{name: '@ ', family: @, chain_id: @, default: @, block_time: @}]",
        "chains: [{timeouts: {request: @}, head: {poll_interval: @}, reads: {hedge: @}}]",
        "chains: [{methods: {deny: ['@ '], reads: [' @']}, reply_buffer: @, checkpoint: @}]",
        "chains: [{upstreams: [{name: ' @', url: '@', tier: @, weight: @, provider: @}]}]",
        "chains: [{upstreams: [{url: 'https://a/{@'}, {url: 'ws://@'}, {url: 'https://@:@'}]}]",
        "chains: [{upstreams: [{url: 'https://u:%zz@@a'}, {url: 'https://a/@#@'}]}]",
        "chains: [{upstreams: [{headers: {'@': '@', X-A: ' @', Host: '@', '@ ': 1}}]}]",
        "chains: [{upstreams: [{headers: @, tls: {ca_file: @, insecure: @, server_name: ' @'}}]}]",
        "chains: [{upstreams: [{url: 'https://a/${@}${x@}${X:-${@}'}]}]",
        "chains: [{upstreams: [{url: 'https://a/${@'}]}]",
        "a: [@",
        "a: \"@\\@",
        "a: @: @: @",
        "%@\n---\na: b",
        "a: !@ b",
        "a: &@ b\nc: *@x",
        "a: b\n @\n- @",
        "*@ : c",
    };
    for (const std::string& pattern : templates) {
        for (const char* how : {"literal", "variable"}) {
            std::string yaml = pattern;
            const std::string put = how == std::string("literal") ? kCanary : "${CANARY}";
            for (std::size_t at = yaml.find('@'); at != std::string::npos;
                 at = yaml.find('@', at + put.size())) {
                yaml.replace(at, 1, put);
            }
            INFO(yaml);
            const auto told = problems(yaml, {{"CANARY", kCanary}});
            CHECK_FALSE(told.empty());
            for (const std::string& line : told) {
                INFO(line);
                CHECK_FALSE(leaks(line));
            }
        }
    }
}

TEST_CASE("the description of a good configuration holds no secret") {
    const auto loaded = load(
        "admin: {token: '${CANARY}'}\n"
        "chains: [{chain_id: 1, upstreams: [\n"
        "  {url: 'https://u:${CANARY}@a.example/v2/${CANARY}?k=${CANARY}'},\n"
        "  {url: 'https://${CANARY}.b.example/', headers: {X-A: 'Bearer ${CANARY}'}}]}]",
        environment({{"CANARY", kCanary}}));
    REQUIRE(lines(loaded).empty());
    const std::string text = describe(*loaded);
    INFO(text);
    CHECK_FALSE(leaks(text));
    CHECK(text.find(": a.example over https") != std::string::npos);
    CHECK(text.find(": ***.b.example over https") != std::string::npos);
}

TEST_CASE("the description is a line per thing") {
    const auto loaded = load(R"(
server: {listen: ["127.0.0.1:1", "[::1]:1"], allowed_hosts: [a]}
chains:
- chain_id: 1
  default: true
  upstreams:
  - {url: "http://10.0.0.1:8545/secret"}
  - {url: "https://u:p@b.example", name: b, tier: 1, weight: 0.5, headers: {X-A: a},
     tls: {insecure: true}, methods: {deny: [a, b]}}
- {chain_id: 10, upstreams: [{url: https://c.example}]}
)",
                             environment());
    REQUIRE(lines(loaded).empty());
    CHECK(describe(*loaded) ==
          "server: listens on 127.0.0.1:1, [::1]:1; threads auto; 1 allowed host; 0 CORS origins; "
          "body up to 5MiB, batch up to 1000 calls; 512MiB buffered at most\n"
          "admin: listens on 127.0.0.1:9545; no token\n"
          "log: level info, format json\n"
          "clients: none, so everybody may use the gateway\n"
          "chain ethereum: id 1, also at /; 2 upstreams; request 8s (slow 1m), attempt 3s, connect "
          "1500ms; 4 attempts per read; 9 deny patterns\n"
          "  upstream upstream-1: 10.0.0.1 over http, port 8545; provider generic; tier 0; "
          "weight 1; 256 in flight "
          "at most\n"
          "  upstream b: b.example over https; provider generic; tier 1; weight 0.5; 256 in flight "
          "at most; with "
          "user-info; 1 header; INSECURE: its certificate is not verified; 0 allow patterns, 2 "
          "deny patterns\n"
          "chain chain-10: id 10; 1 upstream; request 8s (slow 1m), attempt 3s, connect 1500ms; 4 "
          "attempts per read; 9 deny patterns\n"
          "  upstream upstream-1: c.example over https; provider generic; tier 0; weight 1; 256 in "
          "flight at most\n");
}

TEST_CASE("secrets are collected from every place") {
    const auto loaded = load(
        "admin: {token: admin-token}\n"
        "chains: [{chain_id: 1, upstreams: [{\n"
        "  url: 'https://username:pass%21word@a.example/0123456789%2Fabcdef/x?key=query%20value',\n"
        "  headers: {X-A: 'Bearer header-value', X-B: '${SECRET}', X-C: short}}]}]",
        environment({{"SECRET", "from the env"}}));
    REQUIRE(lines(loaded).empty());
    const auto secrets = revealed(*loaded);
    for (const char* one : {"admin-token", "username", "pass!word", "pass%21word",
                            "0123456789%2Fabcdef", "0123456789%2fabcdef", "0123456789/abcdef",
                            "query%20value", "query value", "Bearer header-value", "header-value",
                            "from the env", "from%20the%20env", "dXNlcm5hbWU6cGFzcyF3b3Jk"}) {
        INFO(one);
        CHECK(has(secrets, one));
    }
    CHECK_FALSE(has(secrets, "short"));
    CHECK(std::is_sorted(secrets.begin(), secrets.end(),
                         [](const auto& a, const auto& b) { return a.size() > b.size(); }));
}

TEST_CASE("what is shown by its nature is no secret") {
    const auto loaded = load(
        "server: {listen: '${LISTEN}'}\n"
        "chains: [{name: '${NAME}', chain_id: '${ID}', upstreams: [\n"
        "  {name: '${UP}', url: 'https://${HOST}/'}]}]",
        environment({{"LISTEN", "127.0.0.1:8545"},
                     {"NAME", "ethereum-main"},
                     {"ID", "1234567890"},
                     {"UP", "upstream-name"},
                     {"HOST", "host.example"}}));
    REQUIRE(lines(loaded).empty());
    CHECK(loaded->secrets.empty());
    CHECK(loaded->chains[0].upstreams[0].url.label == "host.example");
}
