// What a new configuration changes.
#include "config/difference.hpp"

#include "loading.hpp"
#include "support/catch.hpp"

using namespace weir::config;
using namespace weir::config::testing;

namespace {

Config of(const std::string& yaml) {
    auto loaded = load(yaml, environment({{"KEY", "abcdefgh12345678"}}));
    CHECK(lines(loaded).empty());
    return *loaded;
}

constexpr const char* kTwo =
    "chains:\n"
    "- {chain_id: 1, upstreams: [{name: a, url: 'https://a.example/${KEY}'}, "
    "{name: b, url: 'https://b.example'}]}\n"
    "- {chain_id: 10, upstreams: [{name: a, url: 'https://a.example'}]}\n";

}  // namespace

TEST_CASE("the same configuration twice differs in nothing") {
    const Difference difference = compare(of(kTwo), of(kTwo));
    REQUIRE(difference.chains.size() == 2);
    CHECK(difference.chains[0].same);
    CHECK(difference.chains[1].same);
    CHECK(difference.chains[1].before == 1);
    CHECK(difference.chains[0].upstreams ==
          std::vector<std::optional<std::size_t>>{std::size_t{0}, std::size_t{1}});
    CHECK(difference.removed.empty());
    CHECK(changes_that_need_a_restart(of(kTwo), of(kTwo)).empty());
}

TEST_CASE("chains are the same by their id, upstreams by how they are reached") {
    const Config after =
        of("chains:\n"
           "- {chain_id: 137, upstreams: [{name: a, url: 'https://a.example'}]}\n"
           "- {chain_id: 1, upstreams: [{name: c, url: 'https://c.example'}, "
           "{name: b, url: 'https://b.example', weight: 5}, "
           "{name: a, url: 'https://a.example/other'}]}\n");
    const Difference difference = compare(of(kTwo), after);
    REQUIRE(difference.chains.size() == 2);
    CHECK_FALSE(difference.chains[0].before);
    CHECK(difference.chains[1].before == 0);
    CHECK_FALSE(difference.chains[1].same);
    CHECK(difference.chains[1].upstreams ==
          std::vector<std::optional<std::size_t>>{std::nullopt, std::size_t{1}, std::nullopt});
    CHECK(difference.removed == std::vector<std::size_t>{1});
}

TEST_CASE("a name with another id is another chain, and a key of a chain changes it") {
    const Config before =
        of("chains: [{name: x, chain_id: 1, upstreams: [{url: 'http://a.example'}]}]");
    CHECK_FALSE(compare(before, of("chains: [{name: x, chain_id: 2, upstreams: [{url: "
                                   "'http://a.example'}]}]"))
                    .chains[0]
                    .before);
    const Difference timeouts =
        compare(before, of("chains: [{name: x, chain_id: 1, timeouts: {request: 9s}, upstreams: "
                           "[{url: 'http://a.example'}]}]"));
    CHECK_FALSE(timeouts.chains[0].same);
    CHECK(timeouts.chains[0].upstreams[0] == 0);
}

TEST_CASE("a chain that gets another name is the same one, changed") {
    const Config before =
        of("chains: [{name: x, chain_id: 1, upstreams: [{url: 'http://a.example'}]}, "
           "{name: y, chain_id: 2, upstreams: [{url: 'http://a.example'}]}]");
    const Config after =
        of("chains: [{name: y, chain_id: 1, upstreams: [{url: 'http://a.example'}]}, "
           "{name: x, chain_id: 2, upstreams: [{url: 'http://a.example'}]}]");
    const Difference difference = compare(before, after);
    for (const std::size_t place : {std::size_t{0}, std::size_t{1}}) {
        CHECK(difference.chains[place].before == place);
        CHECK_FALSE(difference.chains[place].same);
        CHECK(difference.chains[place].upstreams[0] == 0);
    }
    CHECK(difference.removed.empty());
}

TEST_CASE("what holds until the end is named") {
    const Config before = of(with_chain(""));
    const Config after =
        of(with_chain("server: {listen: 127.0.0.1:1, threads: 3, max_body: 1MiB}\n"
                      "admin: {listen: 127.0.0.1:2, token: some-token}"));
    std::vector<std::string> named;
    for (const Problem& problem : changes_that_need_a_restart(before, after)) {
        named.push_back(problem.path);
    }
    CHECK(named == std::vector<std::string>{"server.listen", "server.threads", "admin.listen"});
}

TEST_CASE("every other key that differs is named") {
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"server.tls", "server: {tls: {certificate: /a, private_key: /b}}"},
        {"server.allowed_hosts", "server: {allowed_hosts: [a.example]}"},
        {"server.cors_origins", "server: {cors_origins: ['https://a.example']}"},
        {"server.trusted_proxies", "server: {trusted_proxies: [10.0.0.0/8]}"},
        {"server.max_body", "server: {max_body: 1MiB}"},
        {"server.max_batch", "server: {max_batch: 10}"},
        {"server.max_depth", "server: {max_depth: 10}"},
        {"server.max_header", "server: {max_header: 8KiB}"},
        {"server.max_connections", "server: {max_connections: 10}"},
        {"server.max_in_flight", "server: {max_in_flight: 10}"},
        {"server.max_buffered", "server: {max_buffered: 100MiB}"},
        {"server.header_timeout", "server: {header_timeout: 1s}"},
        {"server.body_timeout", "server: {body_timeout: 1s}"},
        {"server.idle_timeout", "server: {idle_timeout: 1s}"},
        {"server.drain_delay", "server: {drain_delay: 1s}"},
        {"server.drain_timeout", "server: {drain_timeout: 1s}"},
        {"admin.token", "admin: {token: some-token}"},
        {"log.level", "log: {level: warn}"},
        {"log.format", "log: {format: text}"},
        {"log.sample", "log: {sample: 0.5}"},
        {"log.correlation_key", "log: {correlation_key: a-secret-of-sixteen-bytes}"},
    };
    const Config plain = of(with_chain(""));
    for (const auto& [key, yaml] : rows) {
        CAPTURE(key);
        CHECK(compare(plain, of(with_chain(yaml))).settings == std::vector<std::string>{key});
        CHECK(compare(of(with_chain(yaml)), plain).settings == std::vector<std::string>{key});
    }
    Config other = plain;
    other.providers.profiles.pop_back();
    CHECK(compare(plain, other).settings == std::vector<std::string>{"providers_file"});
    CHECK(compare(plain, plain).settings.empty());
}

TEST_CASE("clients that come, go and change are named, and the last one does not go") {
    using Names = std::vector<std::string>;
    const auto clients = [](const std::string& list) {
        return of(with_chain("clients: [" + list + "]"));
    };
    const std::string a = "{name: a, token: token-of-the-team-a}";
    const std::string b = "{name: b, token: token-of-the-team-b}";
    const Config both = clients(a + ", " + b);
    const Difference difference =
        compare(both, clients("{name: c, token: token-of-the-team-c}, {name: b, token: "
                              "token-of-the-team-b, rate: {calls_per_second: 1}}"));
    CHECK(difference.clients_added == Names{"c"});
    CHECK(difference.clients_removed == Names{"a"});
    CHECK(difference.clients_changed == Names{"b"});
    CHECK(compare(both, clients(b + ", " + a)).clients_changed.empty());

    const Config open = of(with_chain(""));
    CHECK(changes_that_need_a_restart(open, both).empty());
    CHECK(changes_that_need_a_restart(both, clients(b)).empty());
    const std::vector<Problem> problems = changes_that_need_a_restart(both, open);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].path == "clients");
    CHECK(problems[0].what.find("opens the gateway to everybody") != std::string::npos);
}
