// How a path and a token name a chain and a client.
#include "proxy/serving.hpp"

#include "support/catch.hpp"
#include "support/metrics.hpp"

#include <string>
#include <vector>

using namespace weir;
using namespace weir::proxy;

namespace {

config::Config two_chains() {
    config::Config config;
    config.chains.resize(2);
    config.chains[0].name = "ethereum";
    config.chains[0].chain_id = 1;
    config.chains[0].is_default = true;
    config.chains[1].name = "base";
    config.chains[1].chain_id = 8453;
    return config;
}

config::Client client(const std::string& name, const std::string& token) {
    config::Client made;
    made.name = name;
    made.tokens.emplace_back(token);
    return made;
}

// `chain/client`, or why not.
std::string found(const config::Config& config, std::string_view path,
                  std::string_view authorization = {}) {
    telemetry::Metrics metrics(test::metrics_layout());
    ClientStates states;
    const Serving serving(config, {}, states.clients_of(config, metrics, {}));
    const auto target = serving.find({.path = path, .authorization = authorization});
    if (!target) {
        return target.error() == RouteError::no_chain ? "no chain" : "unauthorized";
    }
    return config.chains[target->chain].name + "/" + target->client->name;
}

}  // namespace

TEST_CASE("an open gateway") {
    const config::Config config = two_chains();
    CHECK(found(config, "/") == "ethereum/anonymous");
    CHECK(found(config, "/1") == "ethereum/anonymous");
    CHECK(found(config, "/base") == "base/anonymous");
    CHECK(found(config, "/8453", "Bearer whatever-it-may-be") == "base/anonymous");
    for (const char* path : {"", "*", "/2", "/ethereum/", "//", "/ethereum/0123456789abcdef",
                             "/0123456789abcdef", "/ethereum/base"}) {
        CAPTURE(path);
        CHECK(found(config, path) == "no chain");
    }
}

TEST_CASE("a gateway with clients") {
    config::Config config = two_chains();
    config.clients = {client("a", "aaaaaaaaaaaaaaaa"), client("b", "b/b%b+b=bbbbbbbbbb")};
    CHECK(found(config, "/", "Bearer aaaaaaaaaaaaaaaa") == "ethereum/a");
    CHECK(found(config, "/base", "bearer aaaaaaaaaaaaaaaa") == "base/a");
    CHECK(found(config, "/aaaaaaaaaaaaaaaa") == "ethereum/a");
    CHECK(found(config, "/base/aaaaaaaaaaaaaaaa") == "base/a");
    CHECK(found(config, "/8453/aaaaaaaaaaaaaaaa") == "base/a");
    CHECK(found(config, "/1/b%2Fb%25b+b%3dbbbbbbbbbb") == "ethereum/b");
    CHECK(found(config, "/base", "Bearer b/b%b+b=bbbbbbbbbb") == "base/b");
    // The header comes first; another scheme than Bearer is no token.
    CHECK(found(config, "/1/aaaaaaaaaaaaaaaa", "Bearer b/b%b+b=bbbbbbbbbb") == "ethereum/b");
    CHECK(found(config, "/1/aaaaaaaaaaaaaaaa", "Bearer wrong") == "unauthorized");
    CHECK(found(config, "/1/aaaaaaaaaaaaaaaa", "Basic YTpi") == "ethereum/a");
    CHECK(found(config, "/") == "unauthorized");
    CHECK(found(config, "/base") == "unauthorized");
    CHECK(found(config, "/base/aaaaaaaaaaaaaaab") == "unauthorized");
    CHECK(found(config, "/base/aaaaaaaaaaaaaaa%") == "unauthorized");
    CHECK(found(config, "/", "Bearer ") == "unauthorized");
    CHECK(found(config, "/bsae") == "no chain");
    CHECK(found(config, "/bsae/aaaaaaaaaaaaaaaa") == "no chain");
    CHECK(found(config, "/base/aaaaaaaaaaaaaaaa/x") == "no chain");
    CHECK(found(config, "//aaaaaaaaaaaaaaaa") == "no chain");
}

TEST_CASE("from one configuration to the next a client keeps its state by its name") {
    config::Config config = two_chains();
    config.clients = {client("a", "aaaaaaaaaaaaaaaa"), client("b", "bbbbbbbbbbbbbbbb")};
    telemetry::Metrics metrics(test::metrics_layout());
    ClientStates states;
    const std::vector<Client> before = states.clients_of(config, metrics, {});
    config.clients = {client("c", "cccccccccccccccc"), client("b", "dddddddddddddddd")};
    const std::vector<Client> after = states.clients_of(config, metrics, {});
    CHECK(after[1].state == before[1].state);
    CHECK(after[0].state != before[0].state);
    CHECK(after[0].state->share != before[1].state->share);
    CHECK(before[0].state->share != before[1].state->share);
}
