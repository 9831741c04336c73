// Start, readiness, healing, draining and the end.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"
#include "support/temporary_file.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Availability;
using simulator::Provider;
using simulator::Script;

namespace {

long lines_with(const std::string& text, const std::string& part) {
    long count = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        count += text.substr(at, end - at).find(part) == std::string::npos ? 0 : 1;
        at = end + 1;
    }
    return count;
}

DaemonConfig quick_to_drain(const Provider& provider) {
    DaemonConfig config = DaemonConfig::with({provider.url()});
    config.server = {"drain_delay: 500ms", "drain_timeout: 5s"};
    return config;
}

}  // namespace

TEST_CASE("with every upstream down it serves what it knows, and heals by itself", "[daemon]") {
    Simulators simulators;
    Script script;
    script.availability = Availability::down;
    Provider& provider = simulators.add(script);
    Daemon daemon(DaemonConfig::with({provider.url()}));
    CHECK(daemon.admin("/livez").status == 200);
    CHECK(daemon.admin("/readyz").status == 503);
    CHECK(daemon.post(rpc("eth_chainId", "[]", "7")).body ==
          R"({"jsonrpc":"2.0","id":7,"result":"0x1"})");
    CHECK(result_of(daemon.post(rpc("net_version")).body) == R"("1")");
    CHECK(result_of(daemon.post(rpc("net_listening")).body) == "true");
    const HttpResponse refused = daemon.post(rpc("eth_gasPrice", "[]", "7"));
    CHECK(refused.status == 503);
    CHECK(type_of(refused.body) == "no_upstream");
    CHECK(code_of(refused.body) == "-32603");
    CHECK(id_of(refused.body) == "7");

    provider.change([](Script& s) { s.availability = Availability::up; });
    CHECK(daemon.wait_until_ready());
    CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
}

TEST_CASE("an upstream of another chain gets no call", "[daemon]") {
    Simulators simulators;
    Script wrong;
    wrong.chain_id = 5;
    Provider& other = simulators.add(wrong);
    SECTION("beside a good one") {
        Provider& good = simulators.add();
        Daemon daemon(DaemonConfig::with({other.url(), good.url()}));
        REQUIRE(daemon.wait_for_state("a", "wrong_chain"));
        REQUIRE(daemon.wait_for_state("b", "fit"));
        for (int i = 0; i < 20; ++i) {
            CHECK(daemon.post(rpc("eth_gasPrice")).status == 200);
        }
        CHECK(good.counts().calls_of("eth_gasPrice") == 20);
    }
    SECTION("alone") {
        Daemon daemon(DaemonConfig::with({other.url()}));
        REQUIRE(daemon.wait_for_state("a", "wrong_chain"));
        const HttpResponse response = daemon.post(rpc("eth_gasPrice"));
        CHECK(response.status == 503);
        CHECK(type_of(response.body) == "no_upstream");
        CHECK_FALSE(daemon.is_ready());
    }
    CHECK(other.counts().calls_of("eth_gasPrice") == 0);
}

TEST_CASE("chain and upstreams by flags alone", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    Daemon daemon({"run", "--chain-id", "1", "--upstream", provider.url(), "--listen",
                   "127.0.0.1:0", "--admin", "127.0.0.1:0"});
    CHECK(daemon.wait_until_ready());
    CHECK(result_of(daemon.post(rpc("eth_blockNumber")).body) == R"("0x3e8")");
    Process healthy(weir_command({"health", "--admin", daemon.admin_address()}));
    CHECK(healthy.wait_for_exit().value_or(-1) == 0);
}

TEST_CASE("a health check tells why it fails", "[daemon]") {
    Simulators simulators;
    DaemonConfig config = DaemonConfig::with({simulators.add().url()});
    config.admin = "0.0.0.0:0";
    config.server = {"allowed_hosts: [weir.example]"};
    const Daemon daemon(config);
    const std::string& admin = daemon.admin_address();
    const std::string local = "127.0.0.1" + admin.substr(admin.rfind(':'));
    Process unnamed(weir_command({"health", "--admin", local}));
    CHECK(unnamed.wait_for_exit().value_or(-1) == 1);
    CHECK(unnamed.stderr_text().find("HTTP 403: this Host is not served; see "
                                     "server.allowed_hosts") != std::string::npos);
}

TEST_CASE("a port in use ends it at once, with one clear line", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    DaemonConfig config = DaemonConfig::with({provider.url()});
    config.listen = "127.0.0.1:" + std::to_string(provider.port());
    const TemporaryFile file(config.to_yaml());
    const auto start = std::chrono::steady_clock::now();
    Process process(weir_command({"run", "--config", file.path()}));
    CHECK(process.wait_for_exit().value_or(-1) == 1);
    CHECK(std::chrono::steady_clock::now() - start < 3s);  // 1 s, and a busy machine
    CHECK(lines_with(process.all_output(), config.listen) == 1);

    Daemon first(DaemonConfig::with({provider.url()}));
    config.listen = first.rpc_address();
    const TemporaryFile again(config.to_yaml());
    Process second(weir_command({"run", "--config", again.path()}));
    CHECK(second.wait_for_exit().value_or(-1) == 1);
    CHECK(lines_with(second.all_output(), config.listen) == 1);
}

TEST_CASE("bad usage and bad configurations are told apart from failures", "[daemon]") {
    const auto exit_code = [](const std::vector<std::string>& arguments) {
        Process process(weir_command(arguments));
        return process.wait_for_exit().value_or(-1);
    };
    CHECK(exit_code({"nonsense"}) == 2);
    CHECK(exit_code({"run", "--nonsense"}) == 2);
    CHECK(exit_code({"run", "--config", "/nonexistent/weir.yaml"}) == 2);
    CHECK(exit_code({"version"}) == 0);
    CHECK(exit_code({"--help"}) == 0);
    CHECK(exit_code({"health", "--admin", "127.0.0.1:1"}) == 1);

    DaemonConfig config = DaemonConfig::with({"nonsense"});
    config.chain = {"max_reply: many", "no_such_key: 1"};
    const TemporaryFile file(config.to_yaml());
    for (const char* command : {"run", "check"}) {
        Process process(weir_command({command, "--config", file.path()}));
        CHECK(process.wait_for_exit().value_or(-1) == 2);
        const std::string output = process.all_output();
        CHECK(output.find("chains[0].upstreams[0].url") != std::string::npos);
        CHECK(output.find("chains[0].max_reply") != std::string::npos);
        CHECK(output.find("chains[0].no_such_key") != std::string::npos);
    }
    const TemporaryFile good(DaemonConfig::with({"http://127.0.0.1:1/"}).to_yaml());
    CHECK(exit_code({"check", "--config", good.path()}) == 0);
}

TEST_CASE("SIGTERM drains", "[daemon]") {
    Simulators simulators;
    Script script;
    script.method_latency["eth_call"] = 1500ms;
    Provider& provider = simulators.add(script);
    Daemon daemon(quick_to_drain(provider));
    REQUIRE(daemon.wait_until_ready());
    RawClient idle(daemon.rpc_address());
    CHECK(idle.post("/", rpc("eth_chainId")).status == 200);

    HttpResponse slow;
    std::thread client([&] { slow = daemon.post(rpc("eth_call", "[{}]")); });
    const bool started = wait_until([&] { return provider.counts().calls_of("eth_call") == 1; });
    daemon.process().signal(SIGTERM);
    // Not ready at once, but still serving, and saying goodbye.
    CHECK(wait_until([&] { return !daemon.is_ready(); }, 400ms));
    const HttpResponse late = daemon.post(rpc("eth_chainId"));
    client.join();
    CHECK(started);
    CHECK(late.status == 200);
    CHECK(late.field("Connection") == "close");
    CHECK(slow.status == 200);
    CHECK(slow.end == HttpResponse::End::complete);
    CHECK(idle.is_closed());
    CHECK(daemon.process().wait_for_exit().value_or(-1) == 0);
}

TEST_CASE("what does not end in time is cut off, and the exit code says so", "[daemon]") {
    Simulators simulators;
    Script script;
    script.method_latency["eth_call"] = 60s;
    Provider& provider = simulators.add(script);
    DaemonConfig config = DaemonConfig::with({provider.url()});
    config.server = {"drain_delay: 100ms", "drain_timeout: 500ms"};
    config.chain = {"timeouts: {request: 50s, attempt: 50s}"};
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    RawClient client(daemon.rpc_address());
    const std::string call = rpc("eth_call", "[{}]");
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                std::to_string(call.size()) + "\r\n\r\n" + call);
    REQUIRE(wait_until([&] { return provider.counts().calls_of("eth_call") == 1; }));
    SECTION("by the drain's own bound") { daemon.process().signal(SIGTERM); }
    SECTION("by a second signal") {
        daemon.process().signal(SIGTERM);
        REQUIRE(wait_until([&] { return !daemon.is_ready(); }));
        daemon.process().signal(SIGINT);
    }
    CHECK(daemon.process().wait_for_exit(5s).value_or(-1) == 1);
}

TEST_CASE("an idle daemon ends cleanly on either signal", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    for (const int number : {SIGTERM, SIGINT}) {
        DaemonConfig config = DaemonConfig::with({provider.url()});
        config.server = {"drain_delay: 0s"};
        Daemon daemon(config);
        daemon.process().signal(number);
        CHECK(daemon.process().wait_for_exit(5s).value_or(-1) == 0);
    }
}

TEST_CASE("a SIGHUP that comes before the file is read is taken up, not died of", "[daemon]") {
    Simulators simulators;
    const TemporaryFile file("");
    std::remove(file.path().c_str());
    REQUIRE(mkfifo(file.path().c_str(), 0600) == 0);  // it waits there for its configuration
    Process process(weir_command({"run", "--config", file.path()}));
    int pipe = -1;
    REQUIRE(wait_until([&] {
        pipe = open(file.path().c_str(), O_WRONLY | O_NONBLOCK);
        return pipe >= 0;
    }));
    for (const int number : {SIGHUP, SIGUSR1, SIGUSR2}) {
        process.signal(number);
    }
    const std::string yaml = DaemonConfig::with({simulators.add().url()}).to_yaml();
    CHECK(write(pipe, yaml.data(), yaml.size()) == static_cast<ssize_t>(yaml.size()));
    close(pipe);
    const auto says = [&](const std::string& what) {
        return process
            .wait_for_line(
                [&](const std::string& line) { return line.find(what) != std::string::npos; })
            .has_value();
    };
    CHECK(says(R"("message":"listening")"));
    CHECK(says(R"("trigger":"SIGHUP")"));
    process.signal(SIGUSR1);
    process.signal(SIGTERM);
    CHECK(says(R"("message":"draining")"));
    process.signal(SIGTERM);
    CHECK(process.wait_for_exit(10s).value_or(-1) == 1);
}
