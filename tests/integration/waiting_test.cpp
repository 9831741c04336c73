// A provider that says "slow down", seen from a client that knows nothing of it.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/daemon_figures.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Provider;
using simulator::Script;
using simulator::ThrottleShape;
using Clock = std::chrono::steady_clock;

namespace {

// From now on every message is refused, and its sender told to wait two seconds. Returns how many
// were refused before.
std::uint64_t throttle(Provider& provider, ThrottleShape shape = ThrottleShape::http_429) {
    provider.change([shape](Script& script) {
        script.throttle = {
            .calls_per_second = 1e-6, .burst = 1, .shape = shape, .wait = core::seconds(2)};
    });
    // The one call that it has left is used up.
    post("127.0.0.1:" + std::to_string(provider.port()), "/", rpc("web3_clientVersion"));
    return provider.counts().throttled;
}

void relent(Provider& provider) {
    provider.change([](Script& script) { script.throttle = {}; });
}

void send(RawClient& client, const std::string& method) {
    const std::string body = rpc(method, "[{}]");
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
}

}  // namespace

TEST_CASE("a provider that is throttled for two seconds costs a client two seconds, no error",
          "[daemon]") {
    for (const ThrottleShape shape :
         {ThrottleShape::http_429, ThrottleShape::http_429_date, ThrottleShape::backoff_field}) {
        Simulators simulators;
        Provider& provider = simulators.add();
        Daemon daemon(DaemonConfig::with({provider.url()}));
        REQUIRE(daemon.wait_for_state("a", "fit"));
        const std::uint64_t before = throttle(provider, shape);
        std::thread relenting([&] {
            wait_until([&] { return provider.counts().throttled > before; });
            relent(provider);
        });
        const auto started = Clock::now();
        const HttpResponse response = daemon.post(rpc("eth_gasPrice"));
        const auto elapsed = Clock::now() - started;
        relenting.join();
        CHECK(response.status == 200);
        CHECK_FALSE(result_of(response.body).empty());
        CHECK(elapsed > 900ms);  // a date is whole seconds
        CHECK(elapsed < 2900ms);
        CHECK(provider.counts().throttled <= before + 2);
    }
}

TEST_CASE("twelve requests 3 ms apart during a cool-down cost the provider no attempt",
          "[daemon]") {
    struct Case {
        unsigned threads;
        const char* max_wait;
        int status;
    };
    for (const Case& c : {Case{1, "3s", 200}, Case{4, "3s", 200}, Case{4, "0ms", 429}}) {
        Simulators simulators;
        Provider& provider = simulators.add();
        DaemonConfig config = DaemonConfig::with({provider.url()});
        config.threads = c.threads;
        config.chain = {std::string("rate_limits: {max_wait: ") + c.max_wait + "}"};
        Daemon daemon(config);
        REQUIRE(daemon.wait_for_state("a", "fit"));
        const std::uint64_t refused = throttle(provider);
        std::vector<RawClient> clients;
        send(clients.emplace_back(daemon.rpc_address()), "eth_gasPrice");
        REQUIRE(wait_until([&] { return provider.counts().throttled > refused; }));
        REQUIRE(daemon.wait_for_state("a", "cooling_down"));
        relent(provider);
        const std::uint64_t before = provider.counts().requests;
        for (int i = 0; i < 12; ++i) {
            send(clients.emplace_back(daemon.rpc_address()), "eth_gasPrice");
            std::this_thread::sleep_for(3ms);  // how the clients come
        }
        CHECK(provider.counts().requests == before);
        for (RawClient& client : clients) {
            const HttpResponse response = client.read_response();
            CHECK(response.status == c.status);
            if (c.status == 429) {
                CHECK(response.field("Retry-After") == "2");
                CHECK(type_of(response.body) == "rate_limited");
            }
        }
        if (c.status == 429) {
            CHECK(provider.counts().requests == before);
        }
        CHECK(provider.counts().throttled <= refused + 2);
    }
}

TEST_CASE("a client that is gone leaves the queue; one that closed its sending side does not",
          "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    DaemonConfig config = DaemonConfig::with({provider.url()});
    config.chain = {"rate_limits: {max_wait: 5s, default_cooldown: 2s}"};
    Daemon daemon(config);
    REQUIRE(daemon.wait_for_state("a", "fit"));
    const std::uint64_t refused = throttle(provider, ThrottleShape::code_in_200);
    RawClient first(daemon.rpc_address());
    send(first, "eth_gasPrice");
    REQUIRE(wait_until([&] { return provider.counts().throttled > refused; }));
    relent(provider);
    RawClient half(daemon.rpc_address());
    send(half, "eth_blockNumber");
    half.shut_down_sending();
    {
        RawClient gone(daemon.rpc_address());
        send(gone, "eth_maxPriorityFeePerGas");
        RawClient polite(daemon.rpc_address());
        send(polite, "eth_syncing");
        polite.shut_down_sending();
    }
    CHECK(first.read_response().status == 200);
    const HttpResponse response = half.read_response();
    CHECK(response.status == 200);
    CHECK(response.head.substr(0, 15) == "HTTP/1.1 200 OK");
    CHECK_FALSE(result_of(response.body).empty());
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
    CHECK(provider.counts().calls_of("eth_maxPriorityFeePerGas") == 0);
    CHECK(provider.counts().calls_of("eth_syncing") == 0);
}

TEST_CASE("a read in flight ends with its client", "[daemon]") {
    Simulators simulators;
    Script script;
    script.method_latency["eth_call"] = 60s;
    Provider& provider = simulators.add(script);
    Daemon daemon(DaemonConfig::with({provider.url()}));
    REQUIRE(daemon.wait_for_state("a", "fit"));
    const auto in_flight = [&] { return daemon.admin("/metrics").body; };
    {
        RawClient client(daemon.rpc_address());
        send(client, "eth_call");
        REQUIRE(wait_until([&] { return provider.counts().calls_of("eth_call") == 1; }));
        CHECK(in_flight().find("\nweir_in_flight 1\n") != std::string::npos);
    }
    CHECK(wait_until([&] { return in_flight().find("\nweir_in_flight 0\n") != std::string::npos; },
                     2s));
    CHECK(metric(
              daemon,
              R"(weir_requests_total{chain="ethereum",method="eth_call",outcome="client_gone"})") ==
          1);
    CHECK(recent(daemon, "gone") == 1);
    CHECK(recent(daemon, "calls") == 0);
    CHECK(daemon.process().wait_for_line([](const std::string& line) {
        return line.find(R"("method":"eth_call","calls":1,"status":499,"outcome":"client_gone")") !=
               std::string::npos;
    }));
}

TEST_CASE("a request that ends in its body is its client's own error", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    Daemon daemon(DaemonConfig::with({provider.url()}));
    REQUIRE(daemon.wait_for_state("a", "fit"));
    {
        RawClient client(daemon.rpc_address());
        client.send(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Content-Length: 100\r\n\r\n{");
        REQUIRE(wait_until([&] { return metric(daemon, "weir_connections") == 1; }));
    }
    CHECK(wait_until([&] { return metric(daemon, "weir_connections") == 0; }));
    CHECK(recent(daemon, "gone") == 0);
    CHECK(recent(daemon, "failed") == 0);
    CHECK(metric(daemon,
                 R"(weir_requests_total{chain="ethereum",method="other",outcome="http_error"})") ==
          1);
}

TEST_CASE("a configured rate is kept, the gateway's own questions included", "[daemon]") {
    Simulators simulators;
    Script script;
    script.throttle = {.calls_per_second = 20, .burst = 22};
    Provider& provider = simulators.add(script);
    DaemonConfig config = DaemonConfig::with({provider.url()});
    config.upstreams[0].more = "rate: {calls_per_second: 20, burst: 20}";
    config.threads = 4;
    config.chain = {"block_time: 1s"};
    Daemon daemon(config);
    REQUIRE(daemon.wait_for_state("a", "fit"));
    std::vector<std::thread> clients;
    std::atomic<int> served = 0;
    for (int i = 0; i < 4; ++i) {
        clients.emplace_back([&] {
            for (int k = 0; k < 15; ++k) {
                served += daemon.post(rpc("eth_gasPrice")).status == 200 ? 1 : 0;
            }
        });
    }
    for (std::thread& client : clients) {
        client.join();
    }
    CHECK(served == 60);
    CHECK(provider.counts().throttled == 0);
}
