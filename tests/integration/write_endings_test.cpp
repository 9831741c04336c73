// What else can end while a broadcast is on its way: the client, the time, the program, the
// connection. The bytes never arrive twice, and the record says that nobody knows.
#include "chain/transaction_hash.hpp"
#include "core/hex.hpp"
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/daemon_figures.hpp"
#include "support/faulty_node.hpp"
#include "support/fickle_node.hpp"
#include "support/rpc.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>

using namespace weir;
using namespace weir::test;
using Asked = FaultyNode::Asked;

namespace {

std::string method_of(const Asked& asked) {
    const std::string body = asked.request.substr(asked.request.find("\r\n\r\n") + 4);
    return jsonrpc::string_value(jsonrpc::member(body, "method")).value_or("");
}

std::string hash_of(const std::string& raw) {
    return chain::transaction_hash(core::decode_data(raw).value_or("")).value_or("");
}

// Two nodes that take a broadcast in and say nothing, and that know no transaction.
struct Silent {
    std::atomic<int> arrivals = 0;
    std::deque<FaultyNode> nodes;
    MadeTransaction transaction = [] {
        std::mt19937_64 random(1);
        return make_transaction(random);
    }();

    Silent() {
        for (int i = 0; i < 2; ++i) {
            nodes.emplace_back([this](const Asked& asked) {
                if (method_of(asked) == "eth_sendRawTransaction") {
                    ++arrivals;
                    asked.connection.wait_closed();
                } else {
                    asked.connection.send(good_reply(result_reply(asked.id, "null")));
                }
            });
        }
    }

    DaemonConfig config() const {
        DaemonConfig made = DaemonConfig::with({nodes[0].url(), nodes[1].url()});
        made.chain = {"timeouts: {request: 1s}", "writes: {reconcile_timeout: 400ms}"};
        return made;
    }
    std::string call() const {
        return rpc("eth_sendRawTransaction", "[\"" + transaction.raw + "\"]");
    }
    std::string request() const {
        return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
               std::to_string(call().size()) + "\r\n\r\n" + call();
    }
    bool has_arrived() const {
        return wait_until([this] { return arrivals == 1; });
    }
    std::string outcome(const Daemon& daemon) const {
        const std::string record = daemon.admin("/api/transactions/" + transaction.hash).body;
        return jsonrpc::string_value(jsonrpc::member(record, "outcome")).value_or("");
    }
    bool becomes_unknown(const Daemon& daemon) const {
        return wait_until([&] { return outcome(daemon) == "unknown"; });
    }
    // The last words of a program that ends before it knows.
    bool is_told_at_the_end(Daemon& daemon) const {
        const auto line = daemon.process().wait_for_line([](const std::string& each) {
            return each.find(R"("message":"broadcast")") != std::string::npos;
        });
        CAPTURE(line.value_or(""));
        CHECK(jsonrpc::string_value(jsonrpc::member(line.value_or("{}"), "level")) == "warn");
        const auto upstream =
            jsonrpc::string_value(jsonrpc::member(line.value_or("{}"), "upstream"));
        CHECK((upstream == "a" || upstream == "b"));
        return line && line->find(transaction.hash) != std::string::npos &&
               line->find(R"("outcome":"unknown")") != std::string::npos;
    }
    void check_fit(const Daemon& daemon) const {
        REQUIRE(daemon.wait_for_state("a", "fit"));
        REQUIRE(daemon.wait_for_state("b", "fit"));
    }
};

}  // namespace

TEST_CASE("the client leaves while its broadcast is on its way", "[daemon]") {
    const Silent silent;
    const Daemon daemon(silent.config());
    silent.check_fit(daemon);
    {
        RawClient client(daemon.rpc_address());
        client.send(silent.request());
        REQUIRE(silent.has_arrived());
        CHECK(silent.outcome(daemon) == "pending");
    }
    CHECK(silent.becomes_unknown(daemon));
    CHECK(silent.arrivals == 1);
}

TEST_CASE("time runs out while a broadcast is on its way", "[daemon]") {
    const Silent silent;
    const Daemon daemon(silent.config());
    silent.check_fit(daemon);
    const auto start = std::chrono::steady_clock::now();
    const HttpResponse response = daemon.post(silent.call());
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
    CHECK(response.status == 200);
    CHECK(code_of(response.body) == "-32050");
    CHECK(response.body.find(silent.transaction.hash) != std::string::npos);
    CHECK(silent.outcome(daemon) == "unknown");
    CHECK(silent.arrivals == 1);
}

TEST_CASE("the program drains while a broadcast is on its way", "[daemon]") {
    const Silent silent;
    DaemonConfig config = silent.config();
    config.server = {"drain_delay: 3s", "drain_timeout: 5s"};
    Daemon daemon(config);
    silent.check_fit(daemon);
    RawClient client(daemon.rpc_address());
    client.send(silent.request());
    REQUIRE(silent.has_arrived());
    daemon.process().signal(SIGTERM);
    const HttpResponse response = client.read_response();
    CHECK(code_of(response.body) == "-32050");
    CHECK(response.field("Connection") == "close");
    CHECK(silent.outcome(daemon) == "unknown");
    CHECK(daemon.process().wait_for_exit().value_or(-1) == 0);
    CHECK(silent.arrivals == 1);
}

TEST_CASE("a drain cuts off a broadcast that is on its way", "[daemon]") {
    const Silent silent;
    DaemonConfig config = silent.config();
    config.server = {"drain_delay: 50ms", "drain_timeout: 300ms"};
    config.chain = {"timeouts: {request: 30s, attempt: 20s}"};
    Daemon daemon(config);
    silent.check_fit(daemon);
    RawClient client(daemon.rpc_address());
    client.send(silent.request());
    REQUIRE(silent.has_arrived());
    daemon.process().signal(SIGTERM);
    CHECK(client.read_to_end().empty());
    CHECK(daemon.process().wait_for_exit().value_or(-1) == 1);
    CHECK(silent.arrivals == 1);
    CHECK(silent.is_told_at_the_end(daemon));
}

TEST_CASE("a second signal ends the program while a broadcast is on its way", "[daemon]") {
    const Silent silent;
    DaemonConfig config = silent.config();
    config.chain = {"timeouts: {request: 30s, attempt: 20s}"};
    for (const int second : {SIGTERM, SIGINT}) {
        const int before = silent.arrivals;
        Daemon daemon(config);
        silent.check_fit(daemon);
        RawClient client(daemon.rpc_address());
        client.send(silent.request());
        REQUIRE(wait_until([&] { return silent.arrivals == before + 1; }));
        daemon.process().signal(SIGTERM);
        REQUIRE(wait_until([&] { return !daemon.is_ready(); }));
        daemon.process().signal(second);
        CHECK(client.read_to_end().empty());
        CHECK(daemon.process().wait_for_exit(std::chrono::seconds(5)).value_or(-1) == 1);
        CHECK(silent.arrivals == before + 1);
        CHECK(silent.is_told_at_the_end(daemon));
    }
}

TEST_CASE("a connection is closed in the millisecond in which a broadcast arrives", "[daemon]") {
    // The node closes each connection some microseconds after its answer to a read, so before,
    // while and after the broadcast comes; and the one that the broadcast takes at once, in turn by
    // FIN and RST, having taken the transaction or not.
    std::mutex mutex;
    std::map<std::string, int> arrivals;
    std::set<std::string> held;  // hashes
    std::atomic<int> round = 0;
    const auto node = [&](const Asked& asked) {
        const std::string body = asked.request.substr(asked.request.find("\r\n\r\n") + 4);
        const std::string said =
            jsonrpc::string_value(jsonrpc::element(jsonrpc::member(body, "params"), 0))
                .value_or("");
        const std::string method = method_of(asked);
        if (method == "eth_getTransactionByHash") {
            const std::lock_guard lock(mutex);
            const std::string known = R"({"hash":")" + said + R"("})";
            asked.connection.send(
                good_reply(result_reply(asked.id, held.contains(said) ? known : "null")));
        } else if (method == "eth_sendRawTransaction") {
            {
                const std::lock_guard lock(mutex);
                ++arrivals[said];
                if (round % 4 < 2) {
                    held.insert(hash_of(said));
                }
            }
            if (round % 2 == 0) {
                asked.connection.finish();
            } else {
                asked.connection.reset();
            }
        } else {
            asked.connection.send(good_reply(result_reply(asked.id, R"("0x1")")));
            const auto until =
                std::chrono::steady_clock::now() + std::chrono::microseconds(20 * round.load());
            while (std::chrono::steady_clock::now() < until) {
            }
            asked.connection.finish();
        }
    };
    FaultyNode first(node);
    FaultyNode second(node);
    DaemonConfig config = DaemonConfig::with({first.url(), second.url()});
    config.chain = {"timeouts: {request: 2s}", "writes: {reconcile_timeout: 200ms}"};
    config.threads = 1;
    const Daemon daemon(config);
    REQUIRE(daemon.wait_for_state("a", "fit"));
    REQUIRE(daemon.wait_for_state("b", "fit"));
    RawClient client(daemon.rpc_address());
    std::mt19937_64 random(7);
    for (; round < 50; ++round) {
        CAPTURE(round.load());
        const MadeTransaction transaction = make_transaction(random);
        client.post("/", rpc("eth_gasPrice"));
        client.post("/", rpc("eth_gasPrice"));
        const std::string params = "[\"" + transaction.raw + "\"]";
        const HttpResponse response = client.post("/", rpc("eth_sendRawTransaction", params));
        CHECK(response.status == 200);
        CHECK(response.body.find(transaction.hash) != std::string::npos);
        const std::lock_guard lock(mutex);
        const bool taken = held.contains(transaction.hash);
        CHECK(code_of(response.body) == (taken ? "" : "-32050"));
        CHECK(arrivals[transaction.raw] <= 1);
    }
}

TEST_CASE("a write without a hash whose outcome nobody knows is counted and shown", "[daemon]") {
    FaultyNode node([](const Asked& asked) {
        const std::string method = method_of(asked);
        if (method == "eth_sendTransaction" || method == "eth_sendRawTransaction") {
            return;  // taken in; the connection ends
        }
        asked.connection.send(good_reply(result_reply(asked.id, "null")));
    });
    DaemonConfig config = DaemonConfig::with({node.url()});
    config.chain = {"timeouts: {request: 1s}"};
    const Daemon daemon(config);
    const std::string counted = R"(weir_writes_total{chain="ethereum",outcome="unknown"})";
    double times = 0;
    for (const std::string& asked : {rpc("eth_sendTransaction", R"([{"to":"0x1"}])"),
                                     rpc("eth_sendRawTransaction", R"(["0x00"])")}) {
        CHECK(code_of(daemon.post(asked).body) == "-32050");
        CHECK(metric(daemon, counted) == ++times);
    }
    const std::string status = daemon.admin("/api/status").body;
    const auto writes = jsonrpc::member(status, "unknown_writes");
    REQUIRE(jsonrpc::element_count(writes) == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        const auto write = jsonrpc::element(writes, i);
        CAPTURE(write);
        CHECK(jsonrpc::member(write, "hash") == "null");
        CHECK(jsonrpc::member(write, "upstream") == R"("a")");
        CHECK(jsonrpc::member(write, "chain") == R"("ethereum")");
        CHECK(jsonrpc::member(write, "at").size() > 20);
        CHECK(jsonrpc::member(write, "method") ==
              (i == 1 ? R"("eth_sendTransaction")" : R"("eth_sendRawTransaction")"));
    }
}
