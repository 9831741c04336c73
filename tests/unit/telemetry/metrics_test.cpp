#include "telemetry/metrics.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>

using namespace weir::telemetry;
using namespace std::chrono_literals;

namespace {

MetricsLayout layout() {
    MetricsLayout out;
    out.methods = {"other", "eth_call", "eth_blockNumber"};
    out.causes = {"answered", "timeout"};
    out.outcomes = {"answered", "rate_limited"};
    out.version = "1.2.3";
    return out;
}

// Two chains and an open gateway, bound.
struct Bound {
    explicit Bound(Metrics& metrics)
        : ethereum(metrics.bind({"ethereum", {"alchemy", "infura"}})),
          base(metrics.bind({"base", {"drpc"}})),
          someone(metrics.bind_client("anonymous", "ethereum")),
          someone_on_base(metrics.bind_client("anonymous", "base")) {}
    ChainMeter ethereum;
    ChainMeter base;
    ClientMeter someone;
    ClientMeter someone_on_base;
};

Gauges gauges() {
    Gauges all;
    all.chains = {{.name = "ethereum",
                   .head = 120,
                   .upstreams = {{.name = "alchemy",
                                  .head = 119,
                                  .head_lag = 1,
                                  .fit = true,
                                  .state = "fit",
                                  .allowance_used = 0.25,
                                  .score = 0.5,
                                  .cooldown_seconds = 2.5},
                                 {.name = "infura", .state = "wrong_chain"}}},
                  {.name = "base", .upstreams = {{.name = "drpc"}}}};
    return all;
}

// The text format taken apart: series to value, family to type.
struct Parsed {
    std::map<std::string, double> series;
    std::map<std::string, std::string> types;
    std::set<std::string> helped;
};

Parsed parse(const std::string& text) {
    static const std::regex kSeries(
        R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-zA-Z_]\w*="[^"\\]*"(,[a-zA-Z_]\w*="[^"\\]*")*\})? (\S+))re");
    Parsed out;
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string hash;
        std::string what;
        std::string name;
        std::string rest;
        if (line.starts_with("#")) {
            words >> hash >> what >> name >> rest;
            if (what == "TYPE") {
                CHECK(out.types.emplace(name, rest).second);
            } else {
                CHECK(what == "HELP");
                out.helped.insert(name);
            }
            continue;
        }
        std::smatch match;
        CAPTURE(line);
        REQUIRE(std::regex_match(line, match, kSeries));
        const std::string key = match[1].str() + match[2].str();
        CHECK(out.series.emplace(key, std::stod(match[4].str())).second);
    }
    return out;
}

}  // namespace

TEST_CASE("every family is there before anything was counted") {
    Metrics metrics(layout());
    const Bound bound(metrics);
    const Parsed page = parse(metrics.render(gauges()));
    const std::map<std::string, std::string> families = {
        {"weir_requests_total", "counter"},
        {"weir_request_duration_seconds", "histogram"},
        {"weir_upstream_attempts_total", "counter"},
        {"weir_upstream_duration_seconds", "histogram"},
        {"weir_upstream_head_number", "gauge"},
        {"weir_upstream_head_lag_blocks", "gauge"},
        {"weir_upstream_fit", "gauge"},
        {"weir_upstream_score", "gauge"},
        {"weir_upstream_state", "gauge"},
        {"weir_upstream_apart", "gauge"},
        {"weir_upstream_allowance_used_ratio", "gauge"},
        {"weir_upstream_cooldown_seconds", "gauge"},
        {"weir_upstream_units_total", "counter"},
        {"weir_chain_head_number", "gauge"},
        {"weir_chain_disagreements_total", "counter"},
        {"weir_writes_total", "counter"},
        {"weir_client_calls_total", "counter"},
        {"weir_client_units_total", "counter"},
        {"weir_rate_limited_total", "counter"},
        {"weir_unknown_shapes_total", "counter"},
        {"weir_connections", "gauge"},
        {"weir_in_flight", "gauge"},
        {"weir_log_lines_lost_total", "counter"},
        {"weir_build_info", "gauge"},
        {"process_cpu_seconds_total", "counter"},
        {"process_start_time_seconds", "gauge"},
        {"process_resident_memory_bytes", "gauge"},
        {"process_virtual_memory_bytes", "gauge"},
        {"process_open_fds", "gauge"},
        {"process_max_fds", "gauge"},
        {"process_threads", "gauge"},
    };
    CHECK(page.types == families);
    for (const auto& [name, type] : families) {
        CHECK(page.helped.count(name) == 1);
    }
    const std::vector<std::string> zero = {
        R"(weir_requests_total{chain="base",method="other",outcome="answered"})",
        R"(weir_request_duration_seconds_count{chain="ethereum",class="slow"})",
        R"(weir_upstream_attempts_total{chain="ethereum",upstream="infura",cause="timeout"})",
        R"(weir_upstream_duration_seconds_sum{chain="base",upstream="drpc"})",
        R"(weir_upstream_head_number{chain="base",upstream="drpc"})",
        R"(weir_upstream_head_lag_blocks{chain="base",upstream="drpc"})",
        R"(weir_upstream_fit{chain="base",upstream="drpc"})",
        R"(weir_upstream_score{chain="base",upstream="drpc"})",
        R"(weir_upstream_cooldown_seconds{chain="base",upstream="drpc"})",
        R"(weir_upstream_units_total{chain="base",upstream="drpc"})",
        R"(weir_chain_head_number{chain="base"})",
        R"(weir_chain_disagreements_total{kind="reorg",chain="ethereum"})",
        R"(weir_writes_total{chain="ethereum",outcome="unknown"})",
        R"(weir_client_calls_total{client="anonymous",chain="base",outcome="answered"})",
        R"(weir_client_units_total{client="anonymous",chain="base"})",
        R"(weir_rate_limited_total{chain="base",scope="client"})",
        "weir_unknown_shapes_total",
        "weir_connections",
        "weir_in_flight",
        "weir_log_lines_lost_total",
    };
    for (const std::string& series : zero) {
        CAPTURE(series);
        REQUIRE(page.series.count(series) == 1);
        CHECK(page.series.at(series) == 0);
    }
    CHECK(page.series.at(R"(weir_build_info{version="1.2.3"})") == 1);
    // Not every method of the table for every outcome.
    CHECK(page.series.count(
              R"(weir_requests_total{chain="base",method="eth_call",outcome="answered"})") == 0);
}

TEST_CASE("the units of the gateway's own questions stay when their pool goes or begins anew") {
    Metrics metrics(layout());
    Bound bound(metrics);
    const auto shown = [&](const Gauges& now) {
        return parse(metrics.render(now))
            .series.at(R"(weir_upstream_units_total{chain="ethereum",upstream="alchemy"})");
    };
    Gauges now = gauges();
    bound.ethereum.units(0, 100);
    now.chains[0].upstreams[0].probe_units = 40;
    CHECK(shown(now) == 140);
    CHECK(shown(now) == 140);
    now.chains[0].upstreams[0].probe_units = 50;
    CHECK(shown(now) == 150);
    now.chains[0].upstreams[0].probe_units = 5;
    CHECK(shown(now) == 155);
    now.chains.clear();
    CHECK(shown(now) == 155);
}

TEST_CASE("what is refused before its chain is known is of no chain") {
    Metrics metrics(layout());
    const Bound bound(metrics);
    metrics.refused(1);
    metrics.refused(99);
    const Parsed page = parse(metrics.render(gauges()));
    CHECK(page.series.at(
              R"(weir_requests_total{chain="",method="other",outcome="rate_limited"})") == 1);
    CHECK(page.series.at(R"(weir_requests_total{chain="",method="other",outcome="answered"})") ==
          0);
}

TEST_CASE("what is counted is shown") {
    Metrics metrics(layout());
    Bound bound(metrics);
    bound.ethereum.call(1, 0);
    bound.ethereum.call(1, 0);
    bound.ethereum.call(99, 1);  // not in the table: other
    bound.ethereum.call(0, 9);
    bound.someone.call(0);
    bound.someone.call(0);
    bound.someone.call(9);
    bound.base.request(ChainMeter::TimeClass::slow, 30ms);
    bound.base.request(ChainMeter::TimeClass::slow, 10ms);  // on a bound: within it
    bound.base.request(ChainMeter::TimeClass::slow, 1h);
    bound.ethereum.attempt(1, 1, 3s);
    bound.ethereum.attempt(9, 1, 3s);
    bound.ethereum.rate_limited(ChainMeter::Scope::client);
    bound.ethereum.write("unknown");
    bound.base.disagreement("lag");
    bound.base.disagreement("something new");
    metrics.unknown_shape();
    bound.ethereum.units(0, 26);
    bound.ethereum.units(1, 4);
    bound.someone.units(30);
    const ChainMeter nobody;
    nobody.call(0, 0);
    nobody.attempt(0, 0, 1s);
    Gauges shown = gauges();
    shown.connections = 3;
    shown.in_flight = 2;
    shown.log_lines_lost = 7;
    shown.chains[0].upstreams[0].probe_units = 5;
    const Parsed page = parse(metrics.render(shown));
    const std::map<std::string, double> expected = {
        {R"(weir_requests_total{chain="ethereum",method="eth_call",outcome="answered"})", 2},
        {R"(weir_requests_total{chain="ethereum",method="other",outcome="rate_limited"})", 1},
        {R"(weir_client_calls_total{client="anonymous",chain="ethereum",outcome="answered"})", 2},
        {R"(weir_request_duration_seconds_count{chain="base",class="slow"})", 3},
        {R"(weir_request_duration_seconds_sum{chain="base",class="slow"})", 3600.04},
        {R"(weir_request_duration_seconds_bucket{chain="base",class="slow",le="0.005"})", 0},
        {R"(weir_request_duration_seconds_bucket{chain="base",class="slow",le="0.01"})", 1},
        {R"(weir_request_duration_seconds_bucket{chain="base",class="slow",le="0.05"})", 2},
        {R"(weir_request_duration_seconds_bucket{chain="base",class="slow",le="30"})", 2},
        {R"(weir_request_duration_seconds_bucket{chain="base",class="slow",le="+Inf"})", 3},
        {R"(weir_upstream_attempts_total{chain="ethereum",upstream="infura",cause="timeout"})", 1},
        {R"(weir_upstream_duration_seconds_count{chain="ethereum",upstream="infura"})", 1},
        {R"(weir_rate_limited_total{chain="ethereum",scope="client"})", 1},
        {R"(weir_writes_total{chain="ethereum",outcome="unknown"})", 1},
        {R"(weir_chain_disagreements_total{kind="lag",chain="base"})", 1},
        {R"(weir_chain_disagreements_total{kind="other",chain="base"})", 1},
        {"weir_unknown_shapes_total", 1},
        {R"(weir_upstream_units_total{chain="ethereum",upstream="alchemy"})", 31},
        {R"(weir_client_units_total{client="anonymous",chain="ethereum"})", 30},
        {R"(weir_upstream_head_number{chain="ethereum",upstream="alchemy"})", 119},
        {R"(weir_upstream_head_lag_blocks{chain="ethereum",upstream="alchemy"})", 1},
        {R"(weir_upstream_fit{chain="ethereum",upstream="alchemy"})", 1},
        {R"(weir_upstream_score{chain="ethereum",upstream="alchemy"})", 0.5},
        {R"(weir_upstream_state{chain="ethereum",upstream="alchemy",state="fit"})", 1},
        {R"(weir_upstream_state{chain="ethereum",upstream="alchemy",state="wrong_chain"})", 0},
        {R"(weir_upstream_state{chain="ethereum",upstream="infura",state="wrong_chain"})", 1},
        {R"(weir_upstream_allowance_used_ratio{chain="ethereum",upstream="alchemy"})", 0.25},
        {R"(weir_upstream_allowance_used_ratio{chain="ethereum",upstream="infura"})", 0},
        {R"(weir_upstream_cooldown_seconds{chain="ethereum",upstream="alchemy"})", 2.5},
        {R"(weir_upstream_fit{chain="ethereum",upstream="infura"})", 0},
        {R"(weir_chain_head_number{chain="ethereum"})", 120},
        {"weir_connections", 3},
        {"weir_in_flight", 2},
        {"weir_log_lines_lost_total", 7},
    };
    for (const auto& [series, value] : expected) {
        CAPTURE(series);
        REQUIRE(page.series.count(series) == 1);
        CHECK(page.series.at(series) == Approx(value));
    }
}

TEST_CASE("the process is described") {
    Metrics metrics({});
    const Parsed page = parse(metrics.render({}));
    const double now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    CHECK(page.series.at("process_start_time_seconds") > now - 3600);
    CHECK(page.series.at("process_start_time_seconds") < now + 2);
    CHECK(page.series.at("process_resident_memory_bytes") > 1e6);
    CHECK(page.series.at("process_open_fds") >= 3);
    CHECK(page.series.at("process_open_fds") <= page.series.at("process_max_fds"));
    CHECK(page.series.at("process_threads") >= 1);
}

TEST_CASE("no count of several threads is lost, and a scrape may come in between") {
    Metrics metrics(layout());
    constexpr int kThreads = 4;
    constexpr int kEach = 5000;
    const Bound bound(metrics);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&bound] {
            for (int i = 0; i < kEach; ++i) {
                bound.ethereum.call(1, 0);
                bound.ethereum.request(ChainMeter::TimeClass::fast, 1ms);
                bound.ethereum.attempt(0, 0, 1ms);
            }
        });
    }
    for (int i = 0; i < 5; ++i) {
        CHECK_FALSE(metrics.render({}).empty());
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const Parsed page = parse(metrics.render({}));
    constexpr double kAll = kThreads * kEach;
    CHECK(page.series.at(
              R"(weir_requests_total{chain="ethereum",method="eth_call",outcome="answered"})") ==
          kAll);
    CHECK(page.series.at(R"(weir_request_duration_seconds_count{chain="ethereum",class="fast"})") ==
          kAll);
    CHECK(page.series.at(
              R"(weir_upstream_duration_seconds_count{chain="ethereum",upstream="alchemy"})") ==
          kAll);
}

TEST_CASE("who is bound again goes on where it stood, with other upstreams too") {
    Metrics metrics(layout());
    {
        const Bound before(metrics);
        before.ethereum.units(1, 5);
        before.someone.units(5);
    }
    const ChainMeter after = metrics.bind({"ethereum", {"infura", "node"}});
    after.units(0, 2);
    const ClientMeter again = metrics.bind_client("anonymous", "ethereum");
    again.units(2);
    const Parsed page = parse(metrics.render({}));
    CHECK(page.series.at(R"(weir_upstream_units_total{chain="ethereum",upstream="infura"})") == 7);
    CHECK(page.series.at(R"(weir_client_units_total{client="anonymous",chain="ethereum"})") == 7);
    CHECK(page.series.at(R"(weir_upstream_units_total{chain="ethereum",upstream="node"})") == 0);
}

TEST_CASE("the documentation names every family with its type, and no other") {
    Metrics metrics(layout());
    const Parsed page = parse(metrics.render(gauges()));
    std::ifstream in(std::string(WEIR_SOURCE_DIR) + "/docs/metrics.md");
    REQUIRE(in.good());
    std::map<std::string, std::string> documented;
    for (std::string line; std::getline(in, line);) {
        static const std::regex kRow(R"re(\| `([a-z_]+)` \| ([a-z]+) \|.*)re");
        std::smatch match;
        if (std::regex_match(line, match, kRow)) {
            CHECK(documented.emplace(match[1], match[2]).second);
        }
    }
    CHECK(documented == page.types);
}
