// `weir probe` and `weir check --live` against simulated providers.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/simulators.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

using namespace weir;
using namespace weir::test;
using simulator::BatchRefusal;
using simulator::Provider;
using simulator::Script;

namespace {

struct Outcome {
    int exit = -1;
    std::string out;
    std::string err;
};

Outcome run(const std::vector<std::string>& arguments,
            const Process::Environment& environment = {}) {
    Process process(weir_command(arguments), environment);
    Outcome outcome;
    outcome.exit = process.wait_for_exit(std::chrono::minutes(1)).value_or(-1);
    outcome.out = process.stdout_text();
    outcome.err = process.stderr_text();
    return outcome;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

simulator::SimulatedChain::Settings long_chain() {
    simulator::SimulatedChain::Settings settings;
    settings.first_head = 20'000'000;
    settings.block_time = core::Duration::zero();
    return settings;
}

}  // namespace

TEST_CASE("probe tells an archive node with arrays of any size", "[daemon]") {
    Simulators simulators(long_chain());
    Script script;
    script.chain_id = 137;
    script.missing_methods = {"eth_feeHistory"};
    Provider& provider = simulators.add(script);
    const Outcome outcome = run({"probe", provider.url()});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.exit == 0);
    CHECK(has(outcome.err, "at most 40 requests"));
    CHECK(has(outcome.err, "batch size"));
    CHECK(has(outcome.out, "chain id        137\n"));
    CHECK(has(outcome.out, "client          Simulator/v1\n"));
    CHECK(has(outcome.out, "head            20000000, "));
    CHECK(has(outcome.out, "finalized       yes, 64 blocks behind\n"));
    CHECK(has(outcome.out, "batch           100 calls or more\n"));
    CHECK(has(outcome.out, "state           archive: back to block 1\n"));
    CHECK(has(outcome.out, "state by hash   yes (EIP-1898)\n"));
    CHECK(has(outcome.out, "    missing       eth_feeHistory"));
    CHECK(has(outcome.out, "  - chain_id: 137\n    upstreams:\n"));
    CHECK(provider.counts().requests <= 40);
}

TEST_CASE("probe finds batch limits, named or not", "[daemon]") {
    Simulators simulators(long_chain());
    for (const BatchRefusal refusal :
         {BatchRefusal::object_413, BatchRefusal::object_500, BatchRefusal::object_200,
          BatchRefusal::array_of_one, BatchRefusal::silence}) {
        for (const std::size_t limit : {3U, 10U}) {
            Script script;
            script.batch = {limit, refusal};
            Provider& provider = simulators.add(script);
            const Outcome outcome = run({"probe", provider.url()});
            INFO(outcome.out);
            CHECK(has(outcome.out, "batch           " + std::to_string(limit) + " calls; " +
                                       std::to_string(limit + 1) + " are refused\n"));
            CHECK(has(outcome.out, "batch: {max_calls: " + std::to_string(limit) + "}"));
        }
    }
}

TEST_CASE("probe finds how much state a pruned node keeps", "[daemon]") {
    Simulators simulators(long_chain());
    Script script;
    script.history = 128;
    Provider& provider = simulators.add(script);
    const Outcome outcome = run({"probe", "--json", provider.url()});
    INFO(outcome.out);
    CHECK(has(outcome.out, R"("history":{"complete":false,"has_blocks":120,"lacks_blocks":)"));
    CHECK(has(outcome.out, "history: 120\\n"));
}

TEST_CASE("probe waits where an endpoint limits its callers", "[daemon]") {
    Simulators simulators(long_chain());
    Script script;
    script.throttle = {.calls_per_second = 20,
                       .burst = 5,
                       .shape = simulator::ThrottleShape::wording_in_200,
                       .wait = core::seconds(1)};
    Provider& provider = simulators.add(script);
    const Outcome outcome = run({"probe", provider.url()});
    INFO(outcome.out);
    CHECK(outcome.exit == 0);
    CHECK(has(outcome.out, "requests were told to slow down\n"));
    CHECK(has(outcome.out, "2 calls at least; larger arrays ran into the rate limit\n"));
    CHECK(has(outcome.out, "state           archive: back to block 1\n"));
    CHECK(provider.counts().requests <= 40);
}

TEST_CASE("probe says why an endpoint cannot be asked", "[daemon]") {
    Simulators simulators;
    Script script;
    script.faults.crooked = simulator::Crooked::html;
    Provider& page = simulators.add(script);
    const Outcome outcome = run({"probe", "http://127.0.0.1:1", page.url()});
    INFO(outcome.out);
    CHECK(outcome.exit == 1);
    CHECK(has(outcome.out, "problem         connect_failed: "));
    CHECK(has(outcome.out,
              "problem         bad_reply: a page of HTML or XML, no JSON; HTTP status "));
    CHECK(run({"probe"}).exit == 2);
    CHECK(run({"probe", "--nonsense", "http://a"}).exit == 2);
    const Outcome bad = run({"probe", "ftp://canary-0123456789", "http://ok.example"});
    CHECK(bad.exit == 2);
    CHECK(has(bad.err, "URL[0]: "));
    CHECK_FALSE(has(bad.err, "canary"));
}

TEST_CASE("probe prints no secret, and nothing that a terminal obeys", "[daemon]") {
    Simulators simulators(long_chain());
    Script script;
    script.answers["web3_clientVersion"] =
        R"("canary-0123456789 \u001b[2J\u0007 canary-query-012")";
    script.errors["trace_block"] = R"({"code":-7,"message":"see /v2/canary-0123456789 \u001b[H"})";
    Provider& provider = simulators.add(script);
    const std::string port = std::to_string(provider.port());
    const Outcome outcome = run({"probe",
                                 "http://user-canary:pass-canary@127.0.0.1:" + port +
                                     "/v2/canary-0123456789?key=canary-query-012",
                                 "http://127.0.0.1:" + port + "/${CANARY}"},
                                {{"CANARY", "canary-0123456789"}});
    const std::string all = outcome.out + outcome.err;
    INFO(all);
    CHECK(outcome.exit == 0);
    CHECK_FALSE(has(all, "canary-"));
    CHECK_FALSE(has(all, "-canary"));
    CHECK_FALSE(has(all, "\x1b"));
    CHECK(has(all, "***"));
    CHECK(has(all, "holds a secret: not printed"));
    CHECK(has(all, "/${CANARY}\""));
}

TEST_CASE("a URL that is probed is not left in the process list", "[daemon]") {
    Simulators simulators(long_chain());
    Script script;
    script.latency = core::milliseconds(20);
    Provider& provider = simulators.add(script);
    Process process(weir_command({"probe", provider.url() + "canary-0123456789"}));
    REQUIRE(process.wait_for_line([](const std::string& line) { return has(line, "head"); }));
    std::ifstream file("/proc/" + std::to_string(process.pid()) + "/cmdline");
    const std::string command{std::istreambuf_iterator<char>(file), {}};
    CHECK(has(command, "probe"));
    CHECK_FALSE(has(command, "canary"));
    CHECK(process.wait_for_exit().value_or(-1) == 0);
}

TEST_CASE("check --live judges a file by its upstreams", "[daemon]") {
    Simulators simulators(long_chain());
    Script wrong;
    wrong.chain_id = 5;
    Script small;
    small.batch = {10, BatchRefusal::object_500};
    Script pruned;
    pruned.history = 128;
    DaemonConfig config;
    config.upstreams = {{"good", simulators.add().url(), "batch: {max_calls: 50}"},
                        {"wrong", simulators.add(wrong).url()},
                        {"small", simulators.add(small).url(), "batch: {max_calls: 50}"},
                        {"pruned", simulators.add(pruned).url(), "history: archive"},
                        {"gone", "http://127.0.0.1:1"}};
    const TemporaryFile file(config.to_yaml());
    const Outcome outcome = run({"check", "--live", "--config", file.path()});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.exit == 2);
    CHECK(has(outcome.err, "asking 5 upstreams, at most "));
    CHECK(has(outcome.out, "chains[0].upstreams[0] (good): head 20000000, "));
    CHECK(has(outcome.err, "chains[0].upstreams[1].url: says chain id 5, not 1\n"));
    CHECK(has(outcome.err,
              "chains[0].upstreams[2].batch.max_calls: an array of 50 calls is "
              "refused; it takes 10: "));
    CHECK(has(outcome.err, "chains[0].upstreams[3].history: state of block 1 is not given: "));
    CHECK(has(outcome.err,
              "chains[0].upstreams[4].url: does not answer eth_chainId "
              "(connect_failed): "));
    CHECK(has(outcome.err, "4 problems\n"));

    config.upstreams.resize(1);
    const TemporaryFile fine(config.to_yaml());
    const Outcome well = run({"check", "--config", fine.path(), "--live"});
    INFO(well.err);
    CHECK(well.exit == 0);
    CHECK_FALSE(has(well.err, "problem"));
}
