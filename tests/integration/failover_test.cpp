// Upstreams that fail, and how often they are asked.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <chrono>
#include <functional>
#include <string>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Crooked;
using simulator::Provider;
using simulator::Script;

namespace {

// Faults that concern calls, not the gateway's own probes.
Script with_faults_for(const std::string& method) {
    Script script;
    script.faults.methods = {method};
    return script;
}

}  // namespace

TEST_CASE("three refusals of the only provider cost an application nothing", "[daemon]") {
    Simulators simulators;
    Script script = with_faults_for("eth_getBalance");
    script.faults.fail_next = 3;
    Provider& provider = simulators.add(script);
    Daemon daemon(DaemonConfig::with({provider.url()}));
    REQUIRE(daemon.wait_until_ready());
    const HttpResponse response = daemon.post(rpc("eth_getBalance", R"(["0x00","latest"])"));
    CHECK(response.status == 200);
    CHECK_FALSE(result_of(response.body).empty());
    CHECK(response.field("Weir-Attempts") == "4");
    CHECK(provider.counts().calls_of("eth_getBalance") == 4);
}

TEST_CASE("a read that fails at one upstream is served by the other", "[daemon]") {
    struct Case {
        const char* name;
        std::function<void(Script&)> fault;
    };
    const auto crooked = [](Crooked kind) {
        return [kind](Script& s) { s.faults.crooked = kind; };
    };
    const std::vector<Case> cases = {
        {"500", [](Script& s) { s.faults.fail_next = 1000, s.faults.fail_status = 500; }},
        {"503", [](Script& s) { s.faults.fail_next = 1000; }},
        {"404", [](Script& s) { s.faults.fail_next = 1000, s.faults.fail_status = 404; }},
        {"dropped", [](Script& s) { s.faults.drop_next = 1000; }},
        {"html", crooked(Crooked::html)},
        {"wrong id", crooked(Crooked::wrong_id)},
        {"no id", crooked(Crooked::no_id)},
        {"both", crooked(Crooked::result_and_error)},
        {"neither", crooked(Crooked::neither)},
        {"two values", crooked(Crooked::two_values)},
        {"cut json", crooked(Crooked::cut_json)},
        {"broken json", crooked(Crooked::broken_json)},
        {"bad utf-8", crooked(Crooked::bad_utf8)},
        {"empty", crooked(Crooked::empty_body)},
        {"redirect", crooked(Crooked::redirect)},
        {"short length", crooked(Crooked::length_short)},
        {"long length", crooked(Crooked::length_long)},
        {"two lengths", crooked(Crooked::two_lengths)},
        {"broken chunk", crooked(Crooked::broken_chunk)},
        {"cut midway", crooked(Crooked::cut_midway)},
        {"stall", crooked(Crooked::stall)},
        {"late", [](Script& s) { s.method_latency["eth_call"] = 30s; }},
        {"internal error",
         [](Script& s) { s.errors["eth_call"] = R"({"code":-32603,"message":"Internal error"})"; }},
    };
    for (const Case& c : cases) {
        DYNAMIC_SECTION(c.name) {
            Simulators simulators;
            Script bad = with_faults_for("eth_call");
            bad.answers["eth_call"] = R"("0xbad")";
            c.fault(bad);
            Script good;
            good.answers["eth_call"] = R"("0x600d")";
            Provider& first = simulators.add(bad);
            Provider& second = simulators.add(good);
            DaemonConfig config = DaemonConfig::with({first.url(), second.url()});
            config.chain = {"timeouts: {attempt: 250ms}"};
            config.threads = 1;
            Daemon daemon(config);
            REQUIRE(daemon.wait_for_state("a", "fit"));
            REQUIRE(daemon.wait_for_state("b", "fit"));
            std::uint64_t attempts = 0;
            constexpr std::uint64_t kCalls = 8;
            for (std::uint64_t i = 0; i < kCalls; ++i) {
                const HttpResponse response =
                    daemon.post(rpc("eth_call", "[{\"to\":" + std::to_string(i) + "}]"));
                CAPTURE(response.body);
                CHECK(response.status == 200);
                CHECK(result_of(response.body) == R"("0x600d")");
                attempts += std::stoul(response.field("Weir-Attempts"));
            }
            CHECK(second.counts().calls_of("eth_call") == kCalls);
            CHECK(first.counts().calls_of("eth_call") + kCalls == attempts);
        }
    }
}

TEST_CASE("odd but good replies are good", "[daemon]") {
    for (const Crooked kind : {Crooked::gzip, Crooked::odd_status}) {
        Simulators simulators;
        Script script = with_faults_for("eth_gasPrice");
        script.faults.crooked = kind;
        Provider& provider = simulators.add(script);
        Daemon daemon(DaemonConfig::with({provider.url()}));
        REQUIRE(daemon.wait_until_ready());
        const HttpResponse response = daemon.post(rpc("eth_gasPrice"));
        CHECK(response.status == 200);
        CHECK(response.body == R"({"jsonrpc":"2.0","id":1,"result":"0x59682f00"})");
        CHECK_FALSE(response.has_field("Content-Encoding"));
        CHECK(provider.counts().calls_of("eth_gasPrice") == 1);
    }
}

TEST_CASE("when every attempt fails the client hears how", "[daemon]") {
    Simulators simulators;
    Script script = with_faults_for("eth_call");
    Provider& provider = simulators.add(script);
    DaemonConfig config = DaemonConfig::with({provider.url()});
    config.chain = {"timeouts: {request: 1s, attempt: 300ms}", "circuit: {failures: 1000}"};
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    SECTION("no usable reply") {
        provider.change([](Script& s) { s.faults.crooked = Crooked::html; });
        const HttpResponse response = daemon.post(rpc("eth_call", "[{}]", "9"));
        CHECK(response.status == 502);
        CHECK(type_of(response.body) == "bad_upstream_reply");
        CHECK(code_of(response.body) == "-32603");
        CHECK(id_of(response.body) == "9");
        CHECK(provider.counts().calls_of("eth_call") == 4);
    }
    SECTION("no reply in time") {
        provider.change([](Script& s) { s.method_latency["eth_call"] = 30s; });
        const auto start = std::chrono::steady_clock::now();
        const HttpResponse response = daemon.post(rpc("eth_call", "[{}]", "9"));
        CHECK(std::chrono::steady_clock::now() - start < 5s);
        CHECK(response.status == 504);
        CHECK(type_of(response.body) == "deadline");
        CHECK(id_of(response.body) == "9");
    }
    SECTION("each call of a batch for itself") {
        provider.change([](Script& s) {
            s.faults.crooked = Crooked::html;
            s.batch = {1, simulator::BatchRefusal::object_413};  // so that calls fail alone
        });
        const HttpResponse response = daemon.post("[" + rpc("eth_gasPrice", "[]", "1") + "," +
                                                  rpc("eth_chainId", "[]", "2") + "]");
        CHECK(response.status == 200);
        CHECK(result_of(item(response.body, 1)) == R"("0x1")");
    }
}

TEST_CASE("a write is sent once, whatever happens to it", "[daemon]") {
    struct Case {
        const char* name;
        std::function<void(Script&)> fault;
    };
    const auto crooked = [](Crooked kind) {
        return [kind](Script& s) { s.faults.crooked = kind; };
    };
    const std::vector<Case> cases = {
        {"dropped", [](Script& s) { s.faults.drop_next = 1000; }},
        {"500", [](Script& s) { s.faults.fail_next = 1000, s.faults.fail_status = 500; }},
        {"503", [](Script& s) { s.faults.fail_next = 1000; }},
        {"html", crooked(Crooked::html)},
        {"wrong id", crooked(Crooked::wrong_id)},
        {"empty", crooked(Crooked::empty_body)},
        {"cut midway", crooked(Crooked::cut_midway)},
        {"late", [](Script& s) { s.method_latency["eth_sendRawTransaction"] = 30s; }},
    };
    for (const Case& c : cases) {
        for (const unsigned threads : {1U, 4U}) {
            DYNAMIC_SECTION(c.name << ", " << threads << " threads") {
                Simulators simulators;
                Script script = with_faults_for("eth_sendRawTransaction");
                c.fault(script);
                Provider& first = simulators.add(script);
                Provider& second = simulators.add(script);
                DaemonConfig config = DaemonConfig::with({first.url(), second.url()});
                config.chain = {"timeouts: {request: 1s, attempt: 200ms}"};
                config.threads = threads;
                Daemon daemon(config);
                REQUIRE(daemon.wait_for_state("a", "fit"));
                REQUIRE(daemon.wait_for_state("b", "fit"));
                const HttpResponse response =
                    daemon.post(rpc("eth_sendRawTransaction", R"(["0x02f8aa"])"));
                CHECK_FALSE(error_of(response.body).empty());
                CHECK(first.raw_transactions().size() + second.raw_transactions().size() == 1);
            }
        }
    }
}

TEST_CASE("a write that could not be sent goes to the next upstream, once", "[daemon]") {
    Simulators simulators;
    Provider& first = simulators.add();
    Provider& second = simulators.add();
    Daemon daemon(DaemonConfig::with({first.url(), second.url()}));
    REQUIRE(daemon.wait_for_state("a", "fit"));
    REQUIRE(daemon.wait_for_state("b", "fit"));
    const auto down = [](Provider& provider) {
        provider.change([](Script& s) { s.availability = simulator::Availability::down; });
        REQUIRE(wait_until([&] {
            try {
                RawClient client(provider.port());
                return false;
            } catch (const std::runtime_error&) {
                return true;
            }
        }));
    };
    down(first);
    const HttpResponse response = daemon.post(rpc("eth_sendRawTransaction", R"(["0x02f8bb"])"));
    CHECK(response.status == 200);
    CHECK_FALSE(result_of(response.body).empty());
    CHECK(first.raw_transactions().empty());
    CHECK(second.raw_transactions() == std::vector<std::string>{"0x02f8bb"});
}

TEST_CASE("an upstream that goes down while it is used costs no read", "[daemon]") {
    Simulators simulators;
    Provider& first = simulators.add();
    Provider& second = simulators.add();
    Daemon daemon(DaemonConfig::with({first.url(), second.url()}));
    REQUIRE(daemon.wait_for_state("a", "fit"));
    REQUIRE(daemon.wait_for_state("b", "fit"));
    RawClient client(daemon.rpc_address());
    for (int i = 0; i < 60; ++i) {
        if (i == 20) {
            first.change([](Script& s) { s.availability = simulator::Availability::down; });
        }
        if (i == 40) {
            first.change([](Script& s) { s.availability = simulator::Availability::up; });
        }
        CHECK(client.post("/", rpc("eth_gasPrice")).status == 200);
    }
}

TEST_CASE("a method that one upstream lacks is served by the other", "[daemon]") {
    Simulators simulators;
    Script lacking;
    lacking.missing_methods = {"eth_getLogs"};
    Provider& first = simulators.add(lacking);
    Provider& second = simulators.add();
    Daemon daemon(DaemonConfig::with({first.url(), second.url()}));
    REQUIRE(daemon.wait_for_state("a", "fit"));
    REQUIRE(daemon.wait_for_state("b", "fit"));
    for (int i = 0; i < 20; ++i) {
        const std::string params = R"([{"fromBlock":"0x)" + std::to_string(i + 1) + R"("}])";
        CHECK_FALSE(result_of(daemon.post(rpc("eth_getLogs", params)).body).empty());
    }
    CHECK(first.counts().calls_of("eth_getLogs") <= 4);
}
