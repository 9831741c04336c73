// A drain under load, with a transaction on its way: whoever was let in gets a whole answer.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/fickle_node.hpp"
#include "support/load.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <chrono>
#include <csignal>
#include <random>
#include <stdexcept>
#include <string>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Provider;
using simulator::Script;

namespace {

bool is_listening(const std::string& address) {
    try {
        const RawClient probe(address);
        return true;
    } catch (const std::runtime_error&) {
        return false;
    }
}

}  // namespace

TEST_CASE("a drain under load cuts nothing, and a transaction on its way gets its hash",
          "[daemon]") {
    std::mt19937_64 random(3);
    for (const unsigned threads : {1U, 4U}) {
        CAPTURE(threads);
        const MadeTransaction transaction = make_transaction(random);
        Simulators simulators;
        Script script;
        script.method_latency["eth_sendRawTransaction"] = 2500ms;
        script.answers["eth_sendRawTransaction"] = '"' + transaction.hash + '"';
        Provider& a = simulators.add(script);
        Provider& b = simulators.add(script);
        DaemonConfig config = DaemonConfig::with({a.url(), b.url()});
        config.server = {"drain_delay: 500ms", "drain_timeout: 10s"};
        config.threads = threads;
        Daemon daemon(config);
        REQUIRE(daemon.wait_for_state("a", "fit"));
        REQUIRE(daemon.wait_for_state("b", "fit"));
        const auto broadcasts = [&] {
            return a.counts().calls_of("eth_sendRawTransaction") +
                   b.counts().calls_of("eth_sendRawTransaction");
        };

        Load load(daemon.rpc_address(), 8, 20ms);
        REQUIRE(wait_until([&] { return load.answered() > 100; }));
        RawClient writer(daemon.rpc_address());
        const std::string call =
            rpc("eth_sendRawTransaction", "[\"" + transaction.raw + "\"]", "\"w\"");
        writer.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                    std::to_string(call.size()) + "\r\n\r\n" + call);
        REQUIRE(wait_until([&] { return broadcasts() == 1; }));

        const std::size_t before = load.answered();
        daemon.process().signal(SIGTERM);
        CHECK(wait_until([&] { return daemon.admin("/readyz").status == 503; }, 400ms));
        CHECK(wait_until([&] { return load.answered() > before + 20; }, 400ms));  // still served
        // The listener closes at the delay's end; the transaction takes longer than that.
        CHECK(wait_until([&] { return !is_listening(daemon.rpc_address()); }, 1500ms));
        CHECK(wait_until([&] { return load.ended() == 8; }));
        CHECK(daemon.admin("/api/transactions/" + transaction.hash)
                  .body.find(R"("outcome":"pending")") != std::string::npos);
        const HttpResponse answer = writer.read_response();
        CHECK(answer.end == HttpResponse::End::complete);
        CHECK(answer.body ==
              R"({"jsonrpc":"2.0","id":"w","result":")" + transaction.hash + R"("})");
        CHECK(answer.field("Connection") == "close");
        CHECK(daemon.process().wait_for_exit().value_or(-1) == 0);

        CHECK(broadcasts() == 1);
        INFO(load.first_failure());
        CHECK(load.failed() == 0);
        CHECK(load.sent() == load.answered());
    }
}
