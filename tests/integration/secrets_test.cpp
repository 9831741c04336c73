// No secret comes out anywhere.
#include "core/text.hpp"
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"
#include "support/temporary_file.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Crooked;
using simulator::Provider;
using simulator::Script;

namespace {

// Every secret has the word in it; nothing else has.
bool leaks(const std::string& text) {
    return core::to_lower(text).find("canary") != std::string::npos;
}

std::string command_line(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    return {std::istreambuf_iterator<char>(file), {}};
}

// The lines that leak, for the report.
std::string leaks_in(const std::string& text) {
    std::string out;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        out += leaks(line) ? line + "\n" : "";
        at = end + 1;
    }
    return out;
}

// Traffic that makes a program talk: answers, failures, refusals; all answers together.
std::string provoke(Daemon& daemon, Provider& provider) {
    std::string heard;
    const auto ask = [&](const std::string& path, const std::string& body) {
        const HttpResponse response = post(daemon.rpc_address(), path, body);
        heard += response.head + "\n" + response.body + "\n";
    };
    ask("/", rpc("eth_gasPrice"));
    for (const Crooked kind : {Crooked::html, Crooked::wrong_id, Crooked::redirect,
                               Crooked::cut_midway, Crooked::broken_json}) {
        provider.change([kind](Script& s) { s.faults.crooked = kind; });
        ask("/", rpc("eth_gasPrice"));
        ask("/", rpc("eth_sendRawTransaction", R"(["0x02f8"])"));
    }
    provider.change([](Script& s) {
        s.faults.crooked = Crooked::none;
        s.errors["eth_gasPrice"] =
            R"({"code":-32000,"message":"no access for /v2/path-canary-0123456789?apikey=)"
            R"(query-canary-0123456789 nor header-canary-0123456789"})";
    });
    ask("/", rpc("eth_gasPrice"));
    ask("/", "[" + rpc("eth_gasPrice") + "]");
    provider.change([](Script& s) { s.availability = simulator::Availability::down; });
    ask("/", rpc("eth_call", "[{}]"));
    ask("/path-canary-of-a-client-0123456789", rpc("eth_call", "[{}]"));
    for (const std::string path : {"/metrics", "/api/status", "/status", "/readyz", "/nowhere"}) {
        const HttpResponse response = daemon.admin(path);
        heard += response.head + "\n" + response.body + "\n";
    }
    return heard;
}

std::string secret_url(const Provider& provider) {
    return "http://user-canary:password-canary-0123@127.0.0.1:" + std::to_string(provider.port()) +
           "/v2/path-canary-0123456789?apikey=query-canary-0123456789";
}

}  // namespace

TEST_CASE("secrets of a configuration stay in it", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    DaemonConfig config;
    config.upstreams = {{"a", "${UPSTREAM_URL}", R"(headers: {X-Token: "${UPSTREAM_TOKEN}"})"}};
    config.server = {"drain_delay: 0s"};
    Daemon daemon(config, {{"UPSTREAM_URL", secret_url(provider)},
                           {"UPSTREAM_TOKEN", "header-canary-0123456789"}});
    REQUIRE(daemon.wait_until_ready());
    // They are used.
    const std::string head = provider.messages().front().head;
    CHECK(head.find("/v2/path-canary-0123456789?apikey=query-canary-0123456789") !=
          std::string::npos);
    CHECK(head.find("header-canary-0123456789") != std::string::npos);
    CHECK(head.find("Authorization: Basic ") != std::string::npos);

    const std::string heard = provoke(daemon, provider);
    CHECK(leaks_in(heard) == "");
    CHECK(heard.find("***") != std::string::npos);
    daemon.process().signal(SIGTERM);
    CHECK(daemon.process().wait_for_exit().has_value());
    const std::string output = daemon.process().all_output();
    CHECK(leaks_in(output) == "");
    CHECK(output.find("dXNlci1jYW5hcnk") == std::string::npos);  // `user-canary` in base64

    const TemporaryFile file(config.to_yaml());
    Process check(weir_command({"check", "--config", file.path()}),
                  {{"UPSTREAM_URL", secret_url(provider)}, {"UPSTREAM_TOKEN", "header-canary-01"}});
    CHECK(check.wait_for_exit().value_or(-1) == 0);
    CHECK(leaks_in(check.all_output()) == "");
    Process broken(weir_command({"check", "--config", file.path()}),
                   {{"UPSTREAM_URL", "ftp://canary-0123456789"}, {"UPSTREAM_TOKEN", "canary\n"}});
    CHECK(broken.wait_for_exit().value_or(-1) == 2);
    CHECK(leaks_in(broken.all_output()) == "");
}

TEST_CASE("a URL given as a flag is not left in the process list", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    Daemon daemon({"run", "--chain-id", "1", "--upstream", secret_url(provider), "--listen",
                   "127.0.0.1:0", "--admin", "127.0.0.1:0"});
    CHECK_FALSE(leaks(command_line(daemon.process().pid())));
    REQUIRE(daemon.wait_until_ready());
    CHECK(leaks_in(provoke(daemon, provider)) == "");
    daemon.process().signal(SIGKILL);
    CHECK(daemon.process().wait_for_exit().has_value());
    CHECK(leaks_in(daemon.process().all_output()) == "");
}

TEST_CASE("tokens stay in the configuration, and so do those that a reload brings", "[daemon]") {
    Simulators simulators;
    Script script;
    script.errors["eth_gasPrice"] =
        R"({"code":-32000,"message":"client-canary/0123456789 client-canary%2F0123456789 )"
        R"(later-canary-0123456789"})";
    Provider& provider = simulators.add(script);
    DaemonConfig config = DaemonConfig::with({provider.url()});
    config.server = {"drain_delay: 0s"};
    config.top = {"clients: [{name: team, tokens: [\"${TOKEN}\", later-canary-0123456789]}]"};
    const std::string path = "/client-canary%2F0123456789";
    for (const char* format : {"json", "text"}) {
        std::string text = config.to_yaml();
        const std::string before = "token: first-canary-0123456789";
        text.replace(text.find("127.0.0.1:0\"}") + 12, 0, ", " + before);
        text.replace(text.find("format: json"), 12, std::string("format: ") + format);
        const TemporaryFile file(text);
        Process process(weir_command({"run", "--config", file.path()}),
                        {{"TOKEN", "client-canary/0123456789"}});
        const auto line = process.wait_for_line(
            [](const std::string& each) { return each.find("listening") != std::string::npos; });
        REQUIRE(line);
        const auto address_after = [&](const std::string& name) {
            const auto at = line->find("127.0.0.1:", line->find(name));
            return line->substr(at, line->find_first_of(" \"", at) - at);
        };
        const std::string rpc_address = address_after("rpc");
        const std::string admin_address = address_after("admin");
        std::string heard;
        const auto ask = [&](const std::string& address, const std::string& target,
                             const std::string& body, const std::string& fields) {
            RawClient client(address);
            const HttpResponse response =
                body.empty() ? client.get(target, fields) : client.post(target, body, fields);
            heard += response.head + "\n" + response.body + "\n";
            return response.status;
        };
        const std::string bearer = "Authorization: Bearer client-canary/0123456789\r\n";
        const std::string admin = "Authorization: Bearer first-canary-0123456789\r\n";
        REQUIRE(wait_until([&] { return ask(admin_address, "/readyz", "", "") == 200; }));
        CHECK(ask(rpc_address, path, rpc("eth_gasPrice"), "") == 200);
        CHECK(ask(rpc_address, "/ethereum", rpc("eth_gasPrice"), bearer) == 200);
        CHECK(ask(rpc_address, "/ethereum/wrong-canary-0123456789", rpc("eth_gasPrice"), "") ==
              401);
        CHECK(ask(rpc_address, "/", rpc("eth_gasPrice"),
                  "Authorization: Bearer wrong-canary-0123456789\r\n") == 401);
        CHECK(ask(rpc_address, path, "{", "") == 400);
        CHECK(ask(rpc_address, path + "?key=query-canary-0123456789", rpc("eth_call"), "") != 0);
        CHECK(ask(admin_address, "/api/status", "", "") == 401);
        for (const char* page :
             {"/metrics", "/status", "/api/status", "/api/clients", "/api/observations",
              "/api/disagreements", "/api/transactions/later-canary-0123456789"}) {
            CHECK(ask(admin_address, page, "", admin) != 0);
        }
        std::ofstream(file.path(), std::ios::app) << "unknown_key: ${TOKEN}\n";
        CHECK(ask(admin_address, "/api/reload", "{}", admin) == 422);
        std::string next = text;
        next.replace(next.find("first-canary"), 12, "other-canary");
        std::ofstream(file.path(), std::ios::trunc) << next;
        CHECK(ask(admin_address, "/api/reload", "{}", admin) == 200);
        CHECK(ask(admin_address, "/api/status", "", admin) == 401);
        CHECK_FALSE(leaks(command_line(process.pid())));
        process.signal(SIGTERM);
        CHECK(process.wait_for_exit(30s).value_or(-1) == 0);
        CHECK(leaks_in(heard) == "");
        CHECK(leaks_in(process.all_output()) == "");
    }
}
