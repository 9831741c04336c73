// A new configuration while calls run: none fails, what has not changed goes on, a bad file changes
// nothing.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/load.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Provider;
using simulator::Script;

namespace {

// How often the log says it.
std::size_t lines_with(Daemon& daemon, std::string_view what) {
    const std::string log = daemon.process().all_output();
    std::size_t count = 0;
    for (auto at = log.find(what); at != std::string::npos; at = log.find(what, at + 1)) {
        ++count;
    }
    return count;
}

std::size_t reloads_of(Daemon& daemon) { return lines_with(daemon, "configuration reloaded"); }

}  // namespace

TEST_CASE("reloading under 500 calls a second fails none of them", "[daemon]") {
    for (const unsigned threads : {1U, 4U}) {
        CAPTURE(threads);
        Simulators simulators;
        Provider& a = simulators.add();
        Provider& b = simulators.add();
        Provider& c = simulators.add();
        DaemonConfig config = DaemonConfig::with({a.url(), b.url()});
        config.threads = threads;
        Daemon daemon(config);
        REQUIRE(daemon.wait_for_state("a", "fit"));
        REQUIRE(daemon.wait_for_state("b", "fit"));
        Load load(daemon.rpc_address(), 10, 20ms);
        std::size_t done = 0;
        const auto reload = [&](const DaemonConfig& next) {
            daemon.configure(next);
            daemon.process().signal(SIGHUP);
            ++done;
            CHECK(wait_until([&] { return reloads_of(daemon) == done; }));
        };
        for (int round = 0; round < 3; ++round) {
            // Another upstream, other limits, the first one gone, all of them others, and back.
            DaemonConfig more = config;
            more.upstreams.push_back({"c", c.url()});
            reload(more);
            DaemonConfig other = more;
            other.chain = {"timeouts: {request: 9s}", "max_reply: 64MiB"};
            other.upstreams[1].more = "weight: 3, rate: {calls_per_second: 5000}";
            other.server = {"max_body: 1MiB"};
            reload(other);
            DaemonConfig fewer = other;
            fewer.upstreams.erase(fewer.upstreams.begin());
            reload(fewer);
            DaemonConfig replaced = DaemonConfig::with({c.url()});
            replaced.upstreams[0].name = "other";
            replaced.threads = threads;
            reload(replaced);
            CHECK(wait_until([&] {
                return daemon.admin("/api/status").body.find(R"("name":"other")") !=
                       std::string::npos;
            }));
            reload(config);
            CHECK(wait_until([&] {
                return daemon.admin("/api/status").body.find(R"("name":"other")") ==
                       std::string::npos;
            }));
        }
        load.stop();
        CHECK(load.failed() == 0);
        CHECK(load.sent() > 200);
        CHECK(c.counts().calls_of("eth_gasPrice") > 0);
        daemon.process().signal(SIGTERM);
        CHECK(daemon.process().wait_for_exit(30s).value_or(-1) == 0);
    }
}

TEST_CASE("what has not changed keeps its connections, its health and its budget", "[daemon]") {
    Simulators simulators;
    Provider& a = simulators.add();
    Provider& b = simulators.add();
    DaemonConfig config = DaemonConfig::with({a.url()});
    config.threads = 1;
    config.upstreams[0].more = "rate: {units_per_day: 100000}";
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    for (int i = 0; i < 5; ++i) {
        CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
    }
    CHECK(RawClient(daemon.admin_address()).post("/api/upstreams/ethereum/a/drain", "{}").status ==
          200);
    const auto units = [&] {
        const std::string status = daemon.admin("/api/status").body;
        const auto at = status.find(R"("units_today":)");
        return std::stoul(status.substr(at + 14));
    };
    const unsigned long before = units();
    CHECK(before >= 5);
    const std::size_t connections = a.counts().connections;

    DaemonConfig next = config;
    next.upstreams.push_back({"b", b.url(), "tier: 1"});
    daemon.configure(next);
    const HttpResponse response = daemon.reload();
    CHECK(response.status == 200);
    CHECK(response.body.find(R"("changed":["ethereum"])") != std::string::npos);
    // Still drained, and the allowance is as spent as it was.
    CHECK(daemon.wait_for_state("a", "drained"));
    REQUIRE(daemon.wait_for_state("b", "fit"));
    CHECK(units() >= before);
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
    CHECK(b.counts().calls_of("eth_gasPrice") == 1);
    CHECK(RawClient(daemon.admin_address()).post("/api/upstreams/ethereum/a/resume", "{}").status ==
          200);
    CHECK(daemon.wait_for_state("a", "fit"));
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
    CHECK(a.counts().connections == connections);

    // Nothing has changed: nothing happens.
    const HttpResponse same = daemon.reload();
    CHECK(same.body.find(R"("kept":["ethereum"],"changed":[])") != std::string::npos);
}

TEST_CASE("a changed rate or header forgets neither what was spent nor what was drained",
          "[daemon]") {
    Simulators simulators;
    Provider& a = simulators.add();
    DaemonConfig config = DaemonConfig::with({a.url()});
    config.upstreams[0].more =
        "rate: {calls_per_second: 500, units_per_day: 100000}, headers: {X-One: a-key-of-16-signs}";
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    for (int i = 0; i < 5; ++i) {
        CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
    }
    const auto units = [&] {
        const std::string status = daemon.admin("/api/status").body;
        const auto at = status.find(R"("units_today":)");
        return std::stoul(status.substr(at + 14));
    };
    const auto with = [&](const std::string& more) {
        config.upstreams[0].more = more;
        daemon.configure(config);
        CHECK(daemon.reload().status == 200);
    };
    const unsigned long before = units();
    CHECK(before >= 5);
    with(
        "rate: {calls_per_second: 400, units_per_day: 100000}, "
        "headers: {X-One: a-key-of-16-signs}");
    CHECK(units() >= before);
    with(
        "rate: {calls_per_second: 400, units_per_day: 200000}, "
        "headers: {X-One: a-key-of-16-signs}");
    CHECK(units() >= before);
    with("rate: {calls_per_second: 400, units_per_day: " + std::to_string(before) +
         "}, headers: {X-One: a-key-of-16-signs}");
    CHECK(daemon.wait_for_state("a", "quota_spent"));

    CHECK(RawClient(daemon.admin_address()).post("/api/upstreams/ethereum/a/drain", "{}").status ==
          200);
    with("headers: {X-Two: a-key-of-16-signs}");
    CHECK(daemon.wait_for_state("a", "drained"));
    CHECK(RawClient(daemon.admin_address()).post("/api/upstreams/ethereum/a/resume", "{}").status ==
          200);
    CHECK(daemon.wait_for_state("a", "fit"));
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
}

TEST_CASE("filters survive as long as the upstream that holds them", "[daemon]") {
    Simulators simulators;
    Script script;
    script.answers = {{"eth_newBlockFilter", R"("0x5")"}, {"eth_getFilterChanges", "[]"}};
    Provider& a = simulators.add(script);
    Provider& b = simulators.add();
    DaemonConfig config = DaemonConfig::with({a.url()});
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    const std::string filter = result_of(daemon.post(rpc("eth_newBlockFilter")).body);
    REQUIRE(filter.size() == 36);
    DaemonConfig next = config;
    next.upstreams.insert(next.upstreams.begin(), {"first", b.url(), "tier: 1"});
    daemon.configure(next);
    REQUIRE(daemon.reload().status == 200);
    REQUIRE(daemon.wait_for_state("first", "fit"));
    const std::string poll = rpc("eth_getFilterChanges", "[" + filter + "]");
    CHECK(result_of(daemon.post(poll).body) == "[]");
    // The upstream that held it is gone.
    next.upstreams.pop_back();
    daemon.configure(next);
    REQUIRE(daemon.reload().status == 200);
    CHECK(type_of(daemon.post(poll).body) == "filter_not_found");
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
}

TEST_CASE("a bad file changes nothing and says why, all of it", "[daemon]") {
    Simulators simulators;
    Provider& a = simulators.add();
    DaemonConfig config = DaemonConfig::with({a.url()});
    Daemon daemon(config, {{"SECRET_KEY", "a-key-that-nobody-may-see"}});
    REQUIRE(daemon.wait_until_ready());
    DaemonConfig bad = config;
    bad.chain = {"max_reply: ${SECRET_KEY}", "no_such_key: 1"};
    DaemonConfig fixed = config;
    fixed.listen = "127.0.0.1:1";
    fixed.threads = 3;
    const std::string whole = config.to_yaml();
    struct Row {
        std::string text;
        std::vector<std::string> problems;
    };
    const std::vector<Row> rows = {
        {"", {"the file holds no configuration"}},
        {whole.substr(0, whole.size() / 2), {}},
        {whole.substr(0, whole.rfind("url:")), {}},
        {bad.to_yaml(), {"chains[0].max_reply", "chains[0].no_such_key"}},
        {fixed.to_yaml(), {"server.listen", "server.threads"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        daemon.configure(row.text);
        const HttpResponse response = daemon.reload();
        CHECK(response.status == 422);
        CHECK(response.body.find(R"("reloaded":false)") != std::string::npos);
        CHECK(response.body.find("a-key-that-nobody-may-see") == std::string::npos);
        for (const std::string& problem : row.problems) {
            CAPTURE(problem);
            CHECK(response.body.find(problem) != std::string::npos);
            CHECK(daemon.process().wait_for_line(
                [&](const std::string& line) { return line.find(problem) != std::string::npos; }));
        }
        CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
    }
    daemon.configure(config);
    CHECK(daemon.reload().status == 200);
    CHECK(daemon.process().all_output().find("a-key-that-nobody-may-see") == std::string::npos);
}

TEST_CASE("a file that was cut off before its clients opens nothing", "[daemon]") {
    Simulators simulators;
    const DaemonConfig config = DaemonConfig::with({simulators.add().url()});
    const std::string clients =
        "clients:\n  - name: team\n    token: token-of-the-team-1\n"
        "  - name: other\n    token: token-of-the-others\n";
    Daemon daemon(config);
    daemon.configure(config.to_yaml() + clients);
    const HttpResponse closed = daemon.reload();
    CHECK(closed.status == 200);
    CHECK(closed.body.find(R"("clients":{"changed":[],"added":["team","other"],"removed":[]})") !=
          std::string::npos);
    CHECK(daemon.post(rpc("eth_chainId")).status == 401);

    daemon.configure(config);
    const HttpResponse refused = daemon.reload();
    CHECK(refused.status == 422);
    CHECK(refused.body.find(R"("path":"clients")") != std::string::npos);
    CHECK(refused.body.find("restart weir") != std::string::npos);
    CHECK(daemon.post(rpc("eth_chainId")).status == 401);

    DaemonConfig smaller = config;
    smaller.server = {"max_body: 1MiB"};
    daemon.configure(smaller.to_yaml() + clients.substr(0, clients.find("  - name: other")));
    const HttpResponse fewer = daemon.reload();
    CHECK(fewer.status == 200);
    CHECK(fewer.body.find(R"("removed":["other"]},"settings":["server.max_body"])") !=
          std::string::npos);
    CHECK(daemon.process().wait_for_line([](const std::string& line) {
        return line.find(R"("clients_removed":"other","settings":"server.max_body")") !=
               std::string::npos;
    }));
}

TEST_CASE("a file that became a pipe is refused, and nobody waits for it", "[daemon]") {
    Simulators simulators;
    DaemonConfig config = DaemonConfig::with({simulators.add().url()});
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    std::remove(daemon.config_path().c_str());
    REQUIRE(mkfifo(daemon.config_path().c_str(), 0600) == 0);
    const HttpResponse response = daemon.reload();
    CHECK(response.status == 422);
    CHECK(response.body.find("is not a regular file") != std::string::npos);
    CHECK(daemon.admin("/livez").status == 200);
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
    std::remove(daemon.config_path().c_str());
    daemon.configure(config);
    CHECK(daemon.reload().status == 200);
}

TEST_CASE("chains and clients come and go, and a request that runs ends as it began", "[daemon]") {
    Simulators simulators;
    Script slow;
    slow.method_latency["eth_call"] = 1500ms;
    Provider& a = simulators.add(slow);
    DaemonConfig config = DaemonConfig::with({a.url()});
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    HttpResponse late;
    std::thread client([&] { late = daemon.post(rpc("eth_call", "[{}]")); });
    const bool begun = wait_until([&] { return a.counts().calls_of("eth_call") == 1; });
    DaemonConfig next = config;
    next.top = {"clients: [{name: team, token: token-of-the-team-1}]"};
    std::string text = next.to_yaml();
    text.replace(text.find("name: ethereum"), 14, "name: renamed");
    daemon.configure(text);
    const int status = daemon.reload().status;
    const HttpResponse refused = daemon.post(rpc("eth_chainId"));
    client.join();
    CHECK(begun);
    CHECK(status == 200);
    CHECK(refused.status == 401);
    CHECK(late.status == 200);
    RawClient other(daemon.rpc_address());
    CHECK(other.post("/ethereum/token-of-the-team-1", rpc("eth_chainId")).status == 404);
    CHECK(other.post("/renamed/token-of-the-team-1", rpc("eth_chainId")).status == 200);
    CHECK(wait_until([&] {
        return other.post("/renamed/token-of-the-team-1", rpc("eth_gasPrice")).status == 200;
    }));
    CHECK(daemon.admin("/metrics")
              .body.find(R"(weir_upstream_fit{chain="renamed",upstream="a"} 1)") !=
          std::string::npos);
}

TEST_CASE("a later reload replaces one that waits for its upstreams", "[daemon]") {
    Simulators simulators;
    Provider& a = simulators.add();
    const DaemonConfig config = DaemonConfig::with({a.url()});
    DaemonConfig dead = DaemonConfig::with({"http://127.0.0.1:1"});
    dead.upstreams[0].name = "dead";
    dead.top = {"clients: [{name: team, token: token-of-the-team-1}]"};
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    std::size_t replaced = 0;
    const auto counts_as_replaced = [&] {
        ++replaced;
        return wait_until(
            [&] { return lines_with(daemon, "a later reload replaces it") == replaced; });
    };
    SECTION("by POST") {
        daemon.configure(dead);
        const HttpResponse waits = daemon.reload();
        CHECK(waits.status == 200);
        CHECK(waits.body.find(R"("waiting":true)") != std::string::npos);
        daemon.configure("chains: [");  // changes nothing: it waits on
        CHECK(daemon.reload().status == 422);
        CHECK(lines_with(daemon, "a later reload replaces it") == 0);
        daemon.configure(dead);
        CHECK(daemon.reload().body.find(R"("waiting":true)") != std::string::npos);
        CHECK(counts_as_replaced());
        daemon.configure(config);
        const HttpResponse back = daemon.reload();
        CHECK(back.status == 200);
        CHECK(back.body.find(R"("waiting":false)") != std::string::npos);
        CHECK(back.body.find(R"("kept":["ethereum"])") != std::string::npos);
        CHECK(counts_as_replaced());
    }
    SECTION("by SIGHUP") {
        daemon.configure(dead);
        daemon.process().signal(SIGHUP);
        REQUIRE(wait_until([&] { return reloads_of(daemon) == 1; }));
        daemon.configure(config);
        daemon.process().signal(SIGHUP);
        CHECK(counts_as_replaced());
        CHECK(reloads_of(daemon) == 2);
    }
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
    CHECK(daemon.wait_for_state("a", "fit"));
    CHECK(lines_with(daemon, "configuration in effect") == 0);
}

TEST_CASE("a chain that a reload leaves without a fit upstream is told", "[daemon]") {
    Simulators simulators;
    Provider& a = simulators.add();
    Daemon daemon(DaemonConfig::with({a.url()}));
    REQUIRE(daemon.wait_until_ready());
    DaemonConfig dead = DaemonConfig::with({"http://127.0.0.1:1"});
    dead.upstreams[0].name = "dead";
    daemon.configure(dead);
    CHECK(daemon.reload().status == 200);
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
    const auto told = daemon.process().wait_for_line(
        [](const std::string& line) {
            return line.find("none of the chain's new upstreams is fit") != std::string::npos;
        },
        20s);
    REQUIRE(told);
    CHECK(told->find(R"("level":"warn")") != std::string::npos);
    CHECK(told->find(R"("chain":"ethereum")") != std::string::npos);
    CHECK(daemon.post(rpc("eth_gasPrice")).status != 200);
    DaemonConfig back = DaemonConfig::with({a.url()});
    daemon.configure(back);
    CHECK(daemon.reload().status == 200);
    CHECK(wait_until([&] { return daemon.post(rpc("eth_gasPrice")).status == 200; }));
}

TEST_CASE("a chain that gets another name goes on with its upstreams", "[daemon]") {
    Simulators simulators;
    Script script;
    script.method_latency["eth_chainId"] = 300ms;  // nobody waits until it has said again who it is
    Provider& a = simulators.add(script);
    const DaemonConfig config = DaemonConfig::with({a.url()});
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    RawClient client(daemon.rpc_address());
    CHECK(client.post("/1", rpc("eth_gasPrice")).status == 200);
    for (int round = 0; round < 3; ++round) {
        std::string renamed = config.to_yaml();
        renamed.replace(renamed.find("name: ethereum"), 14, "name: main");
        daemon.configure(renamed);
        const HttpResponse response = daemon.reload();
        CHECK(response.status == 200);
        CHECK(response.body.find(R"("changed":["main"],"added":[],"removed":[])") !=
              std::string::npos);
        CHECK(client.post("/1", rpc("eth_gasPrice")).status == 200);
        CHECK(client.post("/main", rpc("eth_gasPrice")).status == 200);
        CHECK(client.post("/ethereum", rpc("eth_gasPrice")).status == 404);
        daemon.configure(config);
        CHECK(daemon.reload().status == 200);
        CHECK(client.post("/1", rpc("eth_gasPrice")).status == 200);
    }
}

TEST_CASE("the key that tells equal reads apart is taken up", "[daemon]") {
    Simulators simulators;
    Provider& a = simulators.add();
    DaemonConfig config = DaemonConfig::with({a.url()});
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    std::size_t records = 0;
    const auto key = [&] {
        RawClient client(daemon.rpc_address());
        const std::string params = R"(["0x0000000000000000000000000000000000000001","latest"])";
        CHECK(client.post("/", rpc("eth_getBalance", params), "Weir-Block: latest\r\n").status ==
              200);
        ++records;
        std::size_t seen = 0;
        const auto line = daemon.process().wait_for_line([&](const std::string& each) {
            seen += each.find("eth_getBalance\",\"upstream") != std::string::npos ? 1 : 0;
            return seen == records;
        });
        const std::string record = line.value_or("{}");
        const std::string_view reads = jsonrpc::member(record, "reads");
        return std::string(jsonrpc::member(jsonrpc::element(reads, 0), "key"));
    };
    const auto take_up = [&](const std::string& secret) {
        std::string text = config.to_yaml();
        const std::string log = "log: {";
        daemon.configure(
            text.insert(text.find(log) + log.size(), "correlation_key: " + secret + ", "));
        REQUIRE(daemon.reload().status == 200);
    };
    CHECK(key().empty());
    take_up("a-secret-of-sixteen-bytes");
    const std::string first = key();
    CHECK(first.size() == 18);
    take_up("a-secret-of-other-bytes");
    const std::string second = key();
    CHECK(second.size() == 18);
    CHECK(second != first);
    CHECK(daemon.process().all_output().find("a-secret-of") == std::string::npos);
}

TEST_CASE("without a file there is nothing to reload", "[daemon]") {
    Simulators simulators;
    Provider& a = simulators.add();
    Daemon daemon(std::vector<std::string>{"run", "--chain-id", "1", "--upstream", a.url(),
                                           "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
    CHECK(daemon.reload().status == 422);
    CHECK(daemon.post(rpc("eth_chainId")).status == 200);
    // What changes something is judged as such.
    RawClient admin(daemon.admin_address());
    CHECK(admin.get("/api/reload").status == 405);
    CHECK(RawClient(daemon.admin_address())
              .post("/api/reload", "{}", "Origin: http://localhost\r\n")
              .status == 403);
}
