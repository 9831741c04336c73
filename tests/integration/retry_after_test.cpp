// Every way in which a provider may say how long to wait, seen by a client of the real program and
// on its status page.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/faulty_node.hpp"
#include "support/rpc.hpp"

#include <cstdlib>
#include <string>

using namespace weir;
using namespace weir::test;

namespace {

constexpr double kDefault = 7;   // seconds; as configured below
constexpr double kLongest = 40;  // likewise

struct Row {
    const char* name;
    const char* headers;  // whole lines
    const char* error;    // JSON
    double seconds;       // that the upstream is left alone
};

constexpr const char* kPlain = R"({"code":-32005,"message":"rate limit exceeded"})";

// The server's clock stands in 2023; only the distance between its own dates counts.
constexpr Row kRows[] = {
    {"seconds", "Retry-After: 3\r\n", kPlain, 3},
    {"zero", "Retry-After: 0\r\n", kPlain, kDefault},
    {"negative", "Retry-After: -5\r\n", kPlain, kDefault},
    {"absurd", "Retry-After: 99999999999\r\n", kPlain, kDefault},
    {"long", "Retry-After: 3600\r\n", kPlain, kLongest},
    {"a fraction", "Retry-After: 2.5\r\n", kPlain, kDefault},
    {"a date ahead, by a clock that is years behind",
     "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\nRetry-After: Tue, 14 Nov 2023 22:13:32 GMT\r\n",
     kPlain, 12},
    {"a date ahead, by a clock that is years ahead",
     "Date: Thu, 14 Nov 2069 22:13:20 GMT\r\nRetry-After: Thu, 14 Nov 2069 22:13:32 GMT\r\n",
     kPlain, 12},
    {"a date past",
     "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\nRetry-After: Tue, 14 Nov 2023 22:13:10 GMT\r\n",
     kPlain, kDefault},
    {"a date years ahead",
     "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\nRetry-After: Thu, 14 Nov 2069 22:13:20 GMT\r\n",
     kPlain, kDefault},
    {"a date beside none of the reply's own", "Retry-After: Thu, 14 Nov 2069 22:13:20 GMT\r\n",
     kPlain, kDefault},
    {"words of years", "", R"({"code":-32005,"message":"rate limit exceeded, retry in 7 years"})",
     kDefault},
    {"two that agree", "Retry-After: 3\r\nRetry-After: 3\r\n", kPlain, 3},
    {"two that differ", "Retry-After: 3\r\nRetry-After: 12\r\n", kPlain, 12},
    {"two, one of them garbage", "Retry-After: soon\r\nRetry-After: 12\r\n", kPlain, 12},
    {"garbage", "Retry-After: tomorrow\r\n", kPlain, kDefault},
    {"garbage beside words", "Retry-After: tomorrow\r\n",
     R"({"code":-32005,"message":"rate limit exceeded, retry in 11s"})", 11},
    {"none", "", kPlain, kDefault},
    {"backoff_seconds", "",
     R"({"code":-32005,"message":"rate limit","data":{"rate":{"backoff_seconds":13}}})", 13},
    {"try_again_in", "",
     R"({"code":-32005,"message":"rate limit","data":{"try_again_in":"14.5s"}})", 14.5},
    {"try_again_in, absurd", "",
     R"({"code":-32005,"message":"rate limit","data":{"try_again_in":"99999h"}})", kDefault},
    {"words", "", R"({"code":-32005,"message":"rate limit exceeded, retry in 5m30s"})", kLongest},
    {"words, short", "", R"({"code":-32005,"message":"rate limit exceeded, retry in 0m15s"})", 15},
};

double cooldown_in(const std::string& status) {
    const std::string_view chains = jsonrpc::member(status, "chains");
    const std::string_view upstreams = jsonrpc::member(jsonrpc::element(chains, 0), "upstreams");
    const std::string_view text =
        jsonrpc::member(jsonrpc::element(upstreams, 0), "cooldown_seconds");
    return std::strtod(std::string(text).c_str(), nullptr);
}

}  // namespace

TEST_CASE("a provider's wait is read wherever it stands, and only a plausible one is believed",
          "[daemon]") {
    for (const Row& row : kRows) {
        INFO(row.name);
        const std::string error = row.error;
        const std::string headers = row.headers;
        FaultyNode node([&](const FaultyNode::Asked& asked) {
            const std::string body =
                R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"error":)" + error + "}";
            asked.connection.send("HTTP/1.1 429 Too Many Requests\r\n" + headers +
                                  "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                                  body);
        });
        DaemonConfig config = DaemonConfig::with({node.url()});
        config.threads = 1;
        config.chain = {
            "rate_limits: {max_wait: 0ms, default_cooldown: 7s, max_cooldown: 40s, "
            "max_retry_after: 60s}"};
        Daemon daemon(config);
        REQUIRE(daemon.wait_for_state("a", "fit"));
        const HttpResponse response = daemon.post(rpc("eth_gasPrice"));
        const double told = std::strtod(response.field("Retry-After").c_str(), nullptr);
        CHECK(response.status == 429);
        CHECK(type_of(response.body) == "rate_limited");
        CHECK(told <= row.seconds + 1);
        CHECK(told >= row.seconds - 2);
        const double rest = cooldown_in(daemon.admin("/api/status").body);
        CHECK(rest <= row.seconds);
        CHECK(rest > row.seconds - 3);
        CHECK(daemon.post(rpc("eth_gasPrice")).status == 429);
        CHECK(node.calls() == 1);
    }
}

TEST_CASE("a configured bound above ten minutes is kept", "[daemon]") {
    FaultyNode node([](const FaultyNode::Asked& asked) {
        asked.connection.send(
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3000\r\n"
            "Content-Length: 0\r\n\r\n");
    });
    DaemonConfig config = DaemonConfig::with({node.url()});
    config.chain = {"rate_limits: {max_wait: 0ms, max_cooldown: 40m}"};
    Daemon daemon(config);
    REQUIRE(daemon.wait_for_state("a", "fit"));
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 429);
    const double rest = cooldown_in(daemon.admin("/api/status").body);
    CHECK(rest <= 2400);
    CHECK(rest > 2390);
}
