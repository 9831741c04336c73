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
    CHECK(changes_of_fixed_keys(of(kTwo), of(kTwo)).empty());
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
    for (const Problem& problem : changes_of_fixed_keys(before, after)) {
        named.push_back(problem.path);
    }
    CHECK(named == std::vector<std::string>{"server.listen", "server.threads", "admin.listen"});
}
