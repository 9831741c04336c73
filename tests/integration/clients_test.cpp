// A team's gateway: who is let in, under which name, and what is told of it.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <chrono>
#include <csignal>
#include <string>

using namespace weir;
using namespace weir::test;
using simulator::Provider;

namespace {

// One that needs escapes in a path.
constexpr const char* kToken = "alpha/token+of=team%a";
constexpr const char* kInPath = "alpha%2Ftoken%2Bof%3Dteam%25a";
constexpr const char* kNext = "next-token-of-team-a";
constexpr const char* kOther = "token-of-the-other-team";

DaemonConfig team(const Provider& provider) {
    DaemonConfig config = DaemonConfig::with({provider.url()});
    config.top = {"clients:", "  - {name: team-a, tokens: [\"${TOKEN_A}\", \"${TOKEN_NEXT}\"]}",
                  "  - {name: team-b, token: \"${TOKEN_B}\", methods: {deny: [debug_*]}}"};
    return config;
}

const Process::Environment kEnvironment = {
    {"TOKEN_A", kToken}, {"TOKEN_NEXT", kNext}, {"TOKEN_B", kOther}};

std::string bearer(const std::string& token) { return "Authorization: Bearer " + token + "\r\n"; }

}  // namespace

TEST_CASE("a gateway with clients lets in who shows a token, and tells nobody's", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    Daemon daemon(team(provider), kEnvironment);
    REQUIRE(daemon.wait_until_ready());
    RawClient client(daemon.rpc_address());
    const std::string call = rpc("eth_gasPrice");

    const HttpResponse refused = client.post("/", call);
    CHECK(refused.status == 401);
    CHECK(refused.field("WWW-Authenticate") == "Bearer");
    CHECK(type_of(refused.body) == "unauthorized");
    CHECK(code_of(refused.body) == "-32600");
    CHECK(id_of(refused.body) == "null");
    CHECK(client.post("/", call, bearer("wrong-token-of-nobody")).status == 401);
    CHECK(client.post("/ethereum/wrong-token-of-nobody", call).status == 401);
    CHECK(client.post("/elsewhere", call, bearer(kToken)).status == 404);
    CHECK(client.get("/").status == 405);

    CHECK(client.post("/", call, bearer(kToken)).status == 200);
    CHECK(client.post("/ethereum", call, bearer(kNext)).status == 200);
    CHECK(client.post("/1/" + std::string(kInPath), call).status == 200);
    CHECK(client.post("/" + std::string(kOther), call).status == 200);
    CHECK(type_of(client.post("/" + std::string(kOther), rpc("debug_traceBlock")).body) ==
          "method_denied");

    // A request is counted after its answer has gone out.
    std::string usage;
    const auto counted = [&] {
        usage = daemon.admin("/api/clients").body;
        return usage.find(R"("outcomes":{"ok":1,"method_denied":1})") != std::string::npos;
    };
    CHECK(wait_until(counted, std::chrono::seconds(10)));
    CHECK(usage.find(R"("name":"team-a","rate":null,"in_flight":0,"chains":[{"chain":"ethereum",)"
                     R"("calls":3,"units":)") != std::string::npos);
    CHECK(usage.find(R"("outcomes":{"ok":3})") != std::string::npos);
    const std::string metrics = daemon.admin("/metrics").body;
    CHECK(metrics.find(
              R"(weir_client_calls_total{client="team-a",chain="ethereum",outcome="ok"} 3)") !=
          std::string::npos);

    daemon.process().signal(SIGTERM);
    REQUIRE(daemon.process().wait_for_exit(std::chrono::seconds(30)).value_or(-1) == 0);
    const std::string log = daemon.process().all_output();
    CHECK(log.find(R"("client":"team-a")") != std::string::npos);
    for (const std::string& secret : {std::string(kToken), std::string(kInPath), std::string(kNext),
                                      std::string(kOther), std::string("wrong-token-of-nobody")}) {
        CAPTURE(secret);
        CHECK(log.find(secret) == std::string::npos);
        CHECK(usage.find(secret) == std::string::npos);
        CHECK(metrics.find(secret) == std::string::npos);
    }
}

TEST_CASE("a browser asks before it sends its token", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    Daemon daemon(team(provider), kEnvironment);
    RawClient client(daemon.rpc_address());
    client.send(
        "OPTIONS /ethereum HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\n"
        "Access-Control-Request-Method: POST\r\n"
        "Access-Control-Request-Headers: authorization,content-type\r\n\r\n");
    const HttpResponse preflight = client.read_response();
    CHECK(preflight.status == 204);
    CHECK(preflight.field("Access-Control-Allow-Headers").find("authorization") !=
          std::string::npos);
    const HttpResponse refused =
        client.post("/", rpc("eth_chainId"), "Origin: http://localhost:3000\r\n");
    CHECK(refused.status == 401);
    CHECK(refused.field("Access-Control-Allow-Origin") == "http://localhost:3000");
}

TEST_CASE("the log names who a trusted proxy says that it is", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    const auto peers = [&](const char* trusted) {
        DaemonConfig config = DaemonConfig::with({provider.url()});
        config.server = {std::string("trusted_proxies: ") + trusted, "drain_delay: 0s"};
        Daemon daemon(config);
        RawClient client(daemon.rpc_address());
        client.post("/", rpc("eth_chainId"), "X-Forwarded-For: 6.6.6.6, 203.0.113.9\r\n");
        client.post("/none", rpc("eth_chainId"), "X-Forwarded-For: 203.0.113.9\r\n");
        daemon.process().signal(SIGTERM);
        daemon.process().wait_for_exit(std::chrono::seconds(10));
        return daemon.process().all_output();
    };
    const std::string believed = peers("[127.0.0.0/8]");
    CHECK(believed.find(R"("peer":"203.0.113.9")") != std::string::npos);
    CHECK(believed.find(R"("peer":"127.0.0.1")") == std::string::npos);
    const std::string ignored = peers("[10.0.0.0/8]");
    CHECK(ignored.find("203.0.113.9") == std::string::npos);
    CHECK(ignored.find(R"("peer":"127.0.0.1")") != std::string::npos);
}
