#include "config/load.hpp"
#include "config/schema.hpp"
#include "loading.hpp"
#include "support/catch.hpp"

#include <algorithm>

using namespace weir::config;
using namespace weir::config::testing;

namespace {

using Lines = std::vector<std::string>;

constexpr const char* kAddress =
    "must be ADDRESS:PORT, such as 127.0.0.1:8545, [::1]:8545 or localhost:8545";
constexpr const char* kPositive = "must be a duration above zero, such as 250ms, 2s, 5m or 1h";

struct Bad {
    std::string yaml;
    Lines problems;
};

void check(const std::vector<Bad>& table) {
    for (const Bad& row : table) {
        INFO(row.yaml);
        CHECK(problems(row.yaml) == row.problems);
    }
}

}  // namespace

TEST_CASE("the shape of a file is judged") {
    check({
        {"", {"the file holds no configuration"}},
        {"# nothing\n", {"the file holds no configuration"}},
        {"text", {"the file must be a map of keys to values"}},
        {"[a]", {"the file must be a map of keys to values"}},
        {"{}", {"chains: is missing"}},
        {"chains:\n", {"chains: must be a list of at least one"}},
        {"chains: []\n", {"chains: must be a list of at least one"}},
        {"chains: {}\n", {"chains: must be a list of at least one"}},
        {"chains: [~, 1, []]\n",
         {"chains[0]: must be a map of keys to values",
          "chains[1]: must be a map of keys to values",
          "chains[2]: must be a map of keys to values"}},
        {"chains: [{}]\n", {"chains[0].chain_id: is missing", "chains[0].upstreams: is missing"}},
        {"chains: [{chain_id: 1, upstreams: []}]\n",
         {"chains[0].upstreams: must be a list of at least one"}},
        {"chains: [{chain_id: 1, upstreams: [{}]}]\n", {"chains[0].upstreams[0].url: is missing"}},
        {with_chain("server: x"), {"server: must be a map of keys to values"}},
        {with_chain("server:"), {"server: must be a map of keys to values"}},
        {with_chain("server: {max_body: }"), {"server.max_body: has no value"}},
        {with_chain("server: {max_body: [1MiB]}"), {"server.max_body: must be a single value"}},
        {with_chain("server: {allowed_hosts: a}"),
         {"server.allowed_hosts: must be a list; [] is the empty one"}},
        {with_chain("server: {allowed_hosts: [[a]]}"),
         {"server.allowed_hosts[0]: must be a single value"}},
        {with_chain("server: {listen: []}"), {"server.listen: must hold at least one address"}},
        {with_chain("admin: {listen: [127.0.0.1:1]}"), {"admin.listen: must be a single value"}},
        {"chains: [\n", {"line 2, column 1: not YAML: end of sequence flow not found"}},
    });
}

TEST_CASE("unknown and repeated keys are found") {
    check({
        {with_chain("sever: {}"), {"sever: unknown key; did you mean server?"}},
        {with_chain("zzz: {}"), {"zzz: unknown key"}},
        {with_chain("client: {}"), {"client: unknown key; did you mean clients?"}},
        {with_chain("server: {maxBody: 1MiB}"),
         {"server.maxBody: unknown key; did you mean max_body?"}},
        {with_chain("server: {idle-timeout: 1s}"),
         {"server.idle-timeout: unknown key; did you mean idle_timeout?"}},
        {with_chain_keys("timeouts: {requst: 1s}"),
         {"chains[0].timeouts.requst: unknown key; did you mean request?"}},
        {with_upstream("Url: x"), {"chains[0].upstreams[0].Url: unknown key; did you mean url?"}},
        {with_chain("log: {level: info, level: warn}"), {"log.level: is given more than once"}},
        {with_chain("log: {level: info}\nlog: {}"), {"log: is given more than once"}},
        {with_chain("foo: 1\nfoo: 2"), {"foo: unknown key", "foo: unknown key"}},
        {with_chain("clients: []\nclients: []"), {"clients: is given more than once"}},
        {with_chain("x: &x {level: info}\nlog: {<<: *x}"),
         {"x: unknown key", "log.(the key on line 1): unknown key"}},
        {with_chain("'': 1"), {"(the key on line 1): unknown key"}},
    });
}

TEST_CASE("bad values are told with what would be good") {
    const std::string size = "must be a size such as 512KiB or 16MiB, ";
    check({
        {with_chain("server: {listen: 8545}"), {std::string("server.listen: ") + kAddress}},
        {with_chain("server: {listen: ['127.0.0.1:1', a:1]}"),
         {std::string("server.listen[1]: ") + kAddress}},
        {with_chain("server: {threads: -1}"),
         {"server.threads: must be a whole number, 0 to 1024"}},
        {with_chain("server: {threads: 1.5}"),
         {"server.threads: must be a whole number, 0 to 1024"}},
        {with_chain("server: {max_body: 0B}"), {"server.max_body: " + size + "1B to 1GiB"}},
        {with_chain("server: {max_body: 5MB}"), {"server.max_body: " + size + "1B to 1GiB"}},
        {with_chain("server: {max_depth: 0}"),
         {"server.max_depth: must be a whole number, 1 to 100000"}},
        {with_chain("server: {idle_timeout: 0s}"),
         {std::string("server.idle_timeout: ") + kPositive}},
        {with_chain("server: {drain_delay: 5}"),
         {"server.drain_delay: must be a duration such as 250ms, 2s, 5m or 1h"}},
        {with_chain("server: {allowed_hosts: ['a:80', 'ok', '*']}"),
         {"server.allowed_hosts[0]: must be a DNS name or an IP address without a port",
          "server.allowed_hosts[2]: must be a DNS name or an IP address without a port"}},
        {with_chain("server: {cors_origins: ['https://a/']}"),
         {"server.cors_origins[0]: must be an origin such as https://app.example.org, without a "
          "path, or *"}},
        {with_chain("server: {cors_origins: ['https://a', '*']}"),
         {"server.cors_origins[1]: * must stand alone"}},
        {with_chain("admin: {token: 'a b'}"),
         {"admin.token: must be visible ASCII characters without blanks"}},
        {with_chain("log: {level: loud}"),
         {"log.level: must be trace, debug, info, warn, error or off"}},
        {with_chain("log: {format: JSON}"), {"log.format: must be json or text"}},
        {with_chain_keys("name: Ethereum"),
         {"chains[0].name: must be small letters, digits and - with a letter first, 64 at most"}},
        {with_chain_keys("family: solana"), {"chains[0].family: must be evm"}},
        {with_chain_keys("default: yes"), {"chains[0].default: must be true or false"}},
        {with_chain_keys("block_time: 0s"), {std::string("chains[0].block_time: ") + kPositive}},
        {with_chain_keys("head: {poll_interval: 0s}"),
         {"chains[0].head.poll_interval: must be auto or a duration above zero, such as 250ms, 2s, "
          "5m or 1h"}},
        {with_chain_keys("reads: {max_attempts: 0}"),
         {"chains[0].reads.max_attempts: must be a whole number, 1 to 100"}},
        {with_chain_keys("reads: {hedge: auto}"), {}},
        {with_chain_keys("reads: {hedge: 250ms}"), {}},
        {with_chain_keys("reads: {hedge: maybe}"),
         {"chains[0].reads.hedge: must be off, auto or a duration above zero"}},
        {with_chain_keys("checkpoint: {number: 1, hash: 0xab}"),
         {"chains[0].checkpoint.hash: must be 0x and 64 hex digits"}},
        {with_chain_keys("methods: {deny: ['eth call']}"),
         {"chains[0].methods.deny[0]: must be a method name, in which * stands for any run of "
          "characters"}},
        {"chains: [{chain_id: 0, upstreams: [{url: http://a}]}]",
         {"chains[0].chain_id: must be a whole number, 1 or more"}},
        {"chains: [{chain_id: 0x1, upstreams: [{url: ws://a}]}]",
         {"chains[0].chain_id: must be a whole number, 1 or more",
          "chains[0].upstreams[0].url: must be an absolute http or https URL"}},
        {with_upstream("name: 'a b'"),
         {"chains[0].upstreams[0].name: must be letters, digits and . _ - with a letter or digit "
          "first, 64 at most"}},
        {with_upstream("name: \"a\\0b\""),
         {"chains[0].upstreams[0].name: holds a line break or another control character"}},
        {with_upstream("weight: 0"),
         {"chains[0].upstreams[0].weight: must be a number above 0, 1000000 at most"}},
        {with_upstream("tier: -1"),
         {"chains[0].upstreams[0].tier: must be a whole number, 0 to 1000"}},
        {with_upstream("headers: [a]"),
         {"chains[0].upstreams[0].headers: must be a map of header names to values"}},
        {with_upstream("headers: {Host: a, content-length: 1, X-A: 1, x-a: 2, 'b c': 3}"),
         {"chains[0].upstreams[0].headers.Host: is a header that the gateway writes itself",
          "chains[0].upstreams[0].headers.content-length: is a header that the gateway writes "
          "itself",
          "chains[0].upstreams[0].headers.x-a: is given more than once",
          "chains[0].upstreams[0].headers.(the key on line 1): is not a header name"}},
        {with_upstream("headers: {X-A: \"a\\r\\nb\", X-B: '', X-C: ' a', X-D: \xc3\xbc}"),
         {"chains[0].upstreams[0].headers.X-A: holds a line break or another control character",
          "chains[0].upstreams[0].headers.X-B: must be visible ASCII characters, with blanks only "
          "between them",
          "chains[0].upstreams[0].headers.X-C: must be visible ASCII characters, with blanks only "
          "between them",
          "chains[0].upstreams[0].headers.X-D: must be visible ASCII characters, with blanks only "
          "between them"}},
    });
}

TEST_CASE("keys that bind each other are judged together") {
    check({
        {with_chain("admin: {listen: 127.0.0.1:8545}"),
         {"admin.listen: is already taken by server.listen"}},
        {with_chain("server: {listen: ['0.0.0.0:9545', '127.0.0.1:9545']}"),
         {"server.listen[1]: is already taken by server.listen[0]",
          "admin.listen: is already taken by server.listen[0]"}},
        {"chains:\n"
         "- {chain_id: 1, default: true, upstreams: [{url: http://a}, {url: http://b, name: "
         "Upstream-1}]}\n"
         "- {chain_id: 1, default: true, upstreams: [{url: http://a}]}\n"
         "- {chain_id: 2, name: ethereum, upstreams: [{url: http://a}]}\n",
         {"chains[0].upstreams[1].name: is already the name of chains[0].upstreams[0]",
          "chains[1].chain_id: is already the chain id of chains[0]",
          "chains[1].name: is already the name of chains[0]",
          "chains[1].default: chains[0] is the default already",
          "chains[2].name: is already the name of chains[0]"}},
        {"chains: [{chain_id: 1, upstreams: [{url: 'http://a', tls: {insecure: true}}]}]",
         {"chains[0].upstreams[0].tls: is set, but the URL is plain http"}},
        {with_upstream("tls: {insecure: true, ca_file: /a}"),
         {"chains[0].upstreams[0].tls.ca_file: has no effect while insecure is true"}},
        {"chains: [{chain_id: 1, upstreams: [{url: 'http://u:p@a', headers: {authorization: x}}]}]",
         {"chains[0].upstreams[0].headers.authorization: is set by the URL's user-info too"}},
    });
}

TEST_CASE("missing variables are told with their key") {
    CHECK(problems("server: {threads: '${T}'}\n"
                   "chains: [{chain_id: 1, upstreams: [{url: 'https://${H}/${K}'}]}]") ==
          Lines{"server.threads: the environment variable T is not set",
                "chains[0].upstreams[0].url: the environment variable H is not set",
                "chains[0].upstreams[0].url: the environment variable K is not set"});
    CHECK(problems(with_chain("log: {level: '${L}'}"), {{"L", "info\n"}}) ==
          Lines{"log.level: holds a line break or another control character"});
}

TEST_CASE("many problems come at once") {
    std::string yaml = "chains:\n";
    for (int i = 0; i < 2000; ++i) {
        yaml += "- {chain_id: x, nmae: y, upstreams: [{url: z}]}\n";
    }
    CHECK(problems(yaml).size() == 6000);
}

TEST_CASE("a chain has a bounded number of upstreams") {
    std::string yaml = "chains:\n  - chain_id: 1\n    upstreams:\n";
    for (std::size_t i = 0; i <= kMaxUpstreams; ++i) {
        yaml += "      - url: http://127.0.0.1:" + std::to_string(1000 + i) + "\n";
    }
    check({{yaml, {"chains[0].upstreams: has more than 64 entries"}}});
}

TEST_CASE("clients are judged") {
    check({
        {with_chain("clients: []"), {}},
        {with_chain("clients:"), {"clients: must be a list"}},
        {with_chain("clients: [{}]"), {"clients[0].name: is missing", "clients[0]: needs a token"}},
        {with_chain("clients: [{name: a, token: 0123456789abcdef}]"), {}},
        {with_chain("clients: [{name: a, token: short}]"),
         {"clients[0].token: must be 16 characters at least"}},
        {with_chain("clients: [{name: a, tokens: [short, 0123456789abcdef]}]"),
         {"clients[0].tokens[0]: must be 16 characters at least"}},
        {with_chain("clients: [{name: a, tokens: []}]"),
         {"clients[0].tokens: must be a list of at least one", "clients[0]: needs a token"}},
        {with_chain("clients: [{name: a, token: 'has a blank in it'}]"),
         {"clients[0].token: must be visible ASCII characters without blanks",
          "clients[0]: needs a token"}},
        {with_chain("clients: [{name: a, token: 0123456789abcdef, tokens: [0123456789abcdeg]}]"),
         {"clients[0].token: is set, and so is tokens"}},
        {with_chain("clients: [{name: a, token: 0123456789abcdef}, {name: A, token: "
                    "0123456789abcdef}]"),
         {"clients[1].name: is already the name of clients[0]",
          "clients[1].token: is the same as clients[0].token"}},
        {with_chain("clients: [{name: anonymous, token: 0123456789abcdef, rate: {burst: 4}}]"),
         {"clients[0].name: stands for whoever uses an open gateway",
          "clients[0].rate.burst: has no effect without calls_per_second"}},
    });
}

TEST_CASE("networks of trusted proxies are judged") {
    constexpr const char* kNetwork =
        "must be an IP address, or a network such as 10.0.0.0/8 without host bits";
    check({
        {with_chain("server: {trusted_proxies: [10.0.0.0/8, 192.0.2.1, '2001:db8::/32', '::1']}"),
         {}},
        {with_chain("server: {trusted_proxies: [10.0.0.1/8, 10.0.0.0/33, proxy, '/8', '::/129']}"),
         {std::string("server.trusted_proxies[0]: ") + kNetwork,
          std::string("server.trusted_proxies[1]: ") + kNetwork,
          std::string("server.trusted_proxies[2]: ") + kNetwork,
          std::string("server.trusted_proxies[3]: ") + kNetwork,
          std::string("server.trusted_proxies[4]: ") + kNetwork}},
    });
}
