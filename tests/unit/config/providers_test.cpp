#include "config/providers.hpp"

#include "loading.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

#include <set>
#include <string>

using namespace weir::config;
using namespace weir::config::testing;

namespace {

std::string file_with(const std::string& upstream, const std::string& first = {}) {
    return first + "chains:\n  - chain_id: 1\n    upstreams:\n      - " + upstream + "\n";
}

std::string provider_of(const std::string& url) {
    const auto loaded = load(file_with("url: " + url), environment({}));
    return loaded ? loaded->chains[0].upstreams[0].provider : "?";
}

}  // namespace

TEST_CASE("the built-in profiles load and are the ones promised") {
    const auto loaded = load_providers(built_in_providers_text(), "providers.yaml");
    if (!loaded) {
        FAIL(to_string(loaded.error().front()));
    }
    for (const char* name :
         {"alchemy",    "infura",    "quicknode",  "ankr",       "drpc",   "chainstack",
          "tenderly",   "flashbots", "mevblocker", "publicnode", "base",   "arbitrum",
          "cloudflare", "nodereal",  "1rpc",       "onfinality", "pocket", "conduit",
          "hedera",     "bsc",       "zksync",     "generic"}) {
        INFO(name);
        CHECK(loaded->find(name) != nullptr);
        CHECK((std::string(name) == "generic") == loaded->find(name)->hosts.empty());
    }
    CHECK(loaded->find("alchemy")->costs.at("eth_call") == 26);
    CHECK(loaded->find("alchemy")->costs.at("eth_getLogs") == 60);
    CHECK(loaded->find("alchemy")->costs.at("eth_sendRawTransaction") == 40);
    CHECK(loaded->find("infura")->costs.at("eth_getLogs") == 255);
    CHECK(loaded->find("infura")->costs.at("default") == 80);
}

TEST_CASE("an upstream's profile is found from its host, or named") {
    CHECK(provider_of("https://eth-mainnet.g.alchemy.com/v2/0123456789abcdef") == "alchemy");
    CHECK(provider_of("https://MAINNET.infura.io/v3/0123456789abcdef") == "infura");
    CHECK(provider_of("https://x-y.quiknode.pro/0123456789abcdef") == "quicknode");
    CHECK(provider_of("https://1rpc.io/eth") == "1rpc");
    CHECK(provider_of("https://alchemy.com.example.org") == "generic");
    CHECK(provider_of("http://127.0.0.1:8545") == "generic");
    const auto named =
        load(file_with("{url: 'http://127.0.0.1:1', provider: drpc}"), environment({}));
    REQUIRE(named.has_value());
    CHECK(named->chains[0].upstreams[0].provider == "drpc");
    CHECK(
        lines(load(file_with("{url: 'http://127.0.0.1:1', provider: nobody}"), environment({}))) ==
        std::vector<std::string>{
            "chains[0].upstreams[0].provider: names no profile of the provider file"});
}

TEST_CASE("a providers_file replaces the built-in profiles; its problems are the file's") {
    const weir::test::TemporaryFile good(
        "profiles:\n  mine: {hosts: ['*.mine.example']}\n  generic: {batch: 7}\n");
    const weir::test::TemporaryFile bad("profiles:\n  generic: {rulez: []}\n  x: {batch: 0}\n");
    const auto with = [](const std::string& path, const std::string& upstream) {
        const weir::test::TemporaryFile file(file_with(upstream, "providers_file: " + path + "\n"));
        return load_file(file.path(), environment({}));
    };
    const auto loaded = with(good.path(), "url: https://a.mine.example");
    REQUIRE(loaded.has_value());
    CHECK(loaded->chains[0].upstreams[0].provider == "mine");
    CHECK(loaded->providers.profiles.size() == 2);
    CHECK(lines(with(good.path(), "{url: 'https://a.example', provider: alchemy}")).size() == 1);
    CHECK(lines(with(bad.path(), "url: https://a.example")) ==
          std::vector<std::string>{
              "providers_file: profiles.generic.rulez: unknown key; did you mean rules?",
              "providers_file: profiles.x.batch: must be a whole number, 1 to 1000000"});
    CHECK(lines(with("/nowhere/at/all", "url: https://a.example"))
              .front()
              .rfind("providers_file: cannot be read", 0) == 0);
}
