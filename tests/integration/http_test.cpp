// The HTTP around the calls.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/daemon_figures.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace weir;
using namespace weir::test;

namespace {

struct House {
    House() {
        DaemonConfig config = DaemonConfig::with({provider.url()});
        config.server = {"max_body: 1KiB"};
        daemon = std::make_unique<Daemon>(config);
        REQUIRE(daemon->wait_until_ready());
    }

    std::string request(const std::string& line, const std::string& fields,
                        const std::string& body) const {
        return line + " HTTP/1.1\r\nHost: localhost\r\n" + fields +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }

    Simulators simulators;
    simulator::Provider& provider = simulators.add();
    std::unique_ptr<Daemon> daemon;
};

}  // namespace

TEST_CASE("requests that are not for the gateway", "[daemon]") {
    House house;
    const std::string call = rpc("eth_gasPrice");
    const std::string json = "Content-Type: application/json\r\n";
    struct Case {
        std::string request;
        int status;
        std::string type;
    };
    const std::vector<Case> cases = {
        {house.request("POST /nowhere", json, call), 404, "not_found"},
        {house.request("POST /2", json, call), 404, "not_found"},
        {house.request("POST /ethereum/", "Content-Type: text/plain\r\n", call), 415, "media_type"},
        {house.request("POST /", "Content-Type: text/plain\r\n", call), 415, "media_type"},
        {house.request("POST /", "Content-Type: application/json; charset=utf-8\r\n", call), 200,
         ""},
        {house.request("POST /", "Content-Type: application/json-rpc\r\n", call), 200, ""},
        {house.request("POST /", "", call), 200, ""},
        {house.request("PUT /", json, call), 405, "http_method"},
        {house.request("GET /", "", ""), 405, "http_method"},
        {house.request("POST /", json, std::string(2000, ' ')), 413, "body_too_large"},
        {house.request("POST /", json + "Origin: https://evil.example\r\n", call), 403,
         "forbidden_origin"},
        {"POST / HTTP/1.1\r\nHost: evil.example\r\n" + json + "Content-Length: 0\r\n\r\n", 403,
         "forbidden_host"},
        {"POST / HTTP/1.1\r\n" + json + "Content-Length: 0\r\n\r\n", 400, "http_error"},
        {"nonsense\r\n\r\n", 400, "http_error"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.request);
        if (c.request.find("/ethereum/ ") != std::string::npos) {
            continue;  // either 404 or 415 would do
        }
        RawClient client(house.daemon->rpc_address());
        client.send(c.request);
        const HttpResponse response = client.read_response();
        CAPTURE(response.body);
        CHECK(response.status == c.status);
        CHECK(type_of(response.body) == c.type);
        CHECK(response.has_field("Weir-Request-Id"));
        if (c.status == 405) {
            CHECK(response.field("Allow").find("POST") != std::string::npos);
        }
    }
}

TEST_CASE("every request that is refused is counted once, as what it was told", "[daemon]") {
    const House house;
    const std::string json = "Content-Type: application/json\r\n";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {house.request("POST /", json, "{"), "parse_error"},
        {house.request("POST /", json, "[]"), "invalid_request"},
        {house.request("POST /nowhere", json, rpc("eth_gasPrice")), "not_found"},
        {house.request("GET /", "", ""), "http_method"},
        {house.request("POST /", "Content-Type: text/plain\r\n", "{}"), "media_type"},
        {house.request("POST /", json, std::string(2000, ' ')), "body_too_large"},
        {house.request("POST /", json + "Origin: https://evil.example\r\n", "{}"),
         "forbidden_origin"},
        {"POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n", "forbidden_host"},
        {"nonsense\r\n\r\n", "http_error"},
    };
    for (const auto& [request, outcome] : cases) {
        CAPTURE(request);
        const std::string series =
            R"(weir_requests_total{chain="ethereum",method="other",outcome=")" + outcome + "\"}";
        CHECK(metric(*house.daemon, series) == 0);
        RawClient client(house.daemon->rpc_address());
        client.send(request);
        CHECK(client.read_response().status != 200);
        CHECK(wait_until([&] { return metric(*house.daemon, series) == 1; }));
    }
    for (const char* outcome : {"parse_error", "invalid_request"}) {
        CHECK(house.daemon->process().wait_for_line([&](const std::string& line) {
            return line.find("\"outcome\":\"" + std::string(outcome) + '"') != line.npos &&
                   line.find("\"method\"") == line.npos && line.find("\"calls\"") == line.npos;
        }));
    }
    CHECK(recent(*house.daemon, "calls") == static_cast<double>(cases.size()));
    CHECK(recent(*house.daemon, "failed") == 0);  // they are what clients made of them
}

TEST_CASE("a chain whose upstreams all rest is not fit, and was", "[daemon]") {
    const House house;
    CHECK(house.daemon->admin("/readyz?chain=ethereum").status == 200);
    house.provider.change([](simulator::Script& s) {
        s.throttle = {.calls_per_second = 0.01, .burst = 1, .wait = core::seconds(30)};
    });
    for (int i = 0; i < 2; ++i) {  // one call may pass
        static_cast<void>(house.daemon->post(rpc("eth_gasPrice")));
    }
    REQUIRE(house.daemon->wait_for_state("a", "cooling_down"));
    CHECK(house.daemon->admin("/readyz?chain=ethereum").status == 503);
    CHECK(house.daemon->admin("/readyz").status == 200);
}

TEST_CASE("a connection is kept, and pipelined requests are answered in order", "[daemon]") {
    House house;
    house.provider.change([](simulator::Script& s) {
        s.method_latency["eth_gasPrice"] = std::chrono::milliseconds(50);
    });
    RawClient client(house.daemon->rpc_address());
    std::string requests;
    for (int i = 0; i < 6; ++i) {
        requests += house.request(
            "POST /", "Content-Type: application/json\r\n",
            rpc(i % 2 == 0 ? "eth_gasPrice" : "eth_chainId", "[]", std::to_string(i)));
    }
    client.send(requests);
    for (int i = 0; i < 6; ++i) {
        CHECK(id_of(client.read_response().body) == std::to_string(i));
    }
    client.send(house.request("POST /", "Connection: close\r\n", rpc("eth_chainId")));
    CHECK(client.read_response().status == 200);
    CHECK(client.is_closed());
}

TEST_CASE("no header goes through, in either direction", "[daemon]") {
    House house;
    RawClient client(house.daemon->rpc_address());
    const HttpResponse response =
        client.post("/", rpc("eth_gasPrice"),
                    "X-Client-Canary: canary\r\nCookie: canary=1\r\nX-Request-Id: my-own.id_1\r\n");
    CHECK(response.status == 200);
    CHECK(response.field("Weir-Request-Id") == "my-own.id_1");
    for (const simulator::Message& message : house.provider.messages()) {
        CHECK(message.head.find("anary") == std::string::npos);
        CHECK(message.head.find("my-own") == std::string::npos);
    }
    CHECK_FALSE(response.has_field("Server"));
}

TEST_CASE("the admin listener is another one", "[daemon]") {
    House house;
    CHECK(house.daemon->admin("/livez").status == 200);
    CHECK(house.daemon->admin("/readyz").status == 200);
    CHECK(house.daemon->admin("/readyz?chain=ethereum").status == 200);
    CHECK(house.daemon->admin("/nowhere").status == 404);
    house.daemon->post(rpc("eth_gasPrice"));
    const std::string metrics = house.daemon->admin("/metrics").body;
    for (const std::string family : {"weir_requests_total",
                                     "weir_request_duration_seconds",
                                     "weir_upstream_attempts_total",
                                     "weir_upstream_duration_seconds",
                                     "weir_upstream_head_number",
                                     "weir_upstream_head_lag_blocks",
                                     "weir_upstream_fit",
                                     "weir_upstream_score",
                                     "weir_upstream_state",
                                     "weir_upstream_allowance_used_ratio",
                                     "weir_upstream_cooldown_seconds",
                                     "weir_upstream_units_total",
                                     "weir_chain_head_number",
                                     "weir_chain_disagreements_total",
                                     "weir_writes_total",
                                     "weir_client_calls_total",
                                     "weir_client_units_total",
                                     "process_cpu_seconds_total",
                                     "weir_rate_limited_total",
                                     "weir_unknown_shapes_total",
                                     "weir_connections",
                                     "weir_in_flight",
                                     "weir_build_info"}) {
        CAPTURE(family);
        CHECK(metrics.find("\n# TYPE " + family + " ") != std::string::npos);
    }
    CHECK(metrics.find("weir_upstream_fit{chain=\"ethereum\",upstream=\"a\"} 1") !=
          std::string::npos);
    const std::string status = house.daemon->admin("/api/status").body;
    REQUIRE(jsonrpc::is_valid(status));
    const std::string chain = item(jsonrpc::member(status, "chains"), 0);
    CHECK(jsonrpc::member(chain, "name") == R"("ethereum")");
    CHECK(jsonrpc::member(chain, "chain_id") == "1");
    CHECK(jsonrpc::member(chain, "state") == R"("ok")");
    CHECK(jsonrpc::member(jsonrpc::member(chain, "head"), "number") == "1000");
    // Nothing of it on the RPC port.
    CHECK(get(house.daemon->rpc_address(), "/metrics").status != 200);
    CHECK(get(house.daemon->rpc_address(), "/readyz").status != 200);
}
