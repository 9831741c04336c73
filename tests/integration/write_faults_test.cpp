// Many writes through the real program to nodes that fail at random, and a tally of what happened:
// no bytes twice, no client told what is not so.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/fickle_node.hpp"
#include "support/rpc.hpp"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace weir;
using namespace weir::test;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* const value = std::getenv(name);
    return value != nullptr ? std::stoull(value) : otherwise;
}

struct Told {
    MadeTransaction transaction;
    HttpResponse response;
    int requests = 0;  // with its bytes
};

struct Nodes {
    std::deque<FickleNode> all;

    int arrivals(const MadeTransaction& transaction) const {
        int count = 0;
        for (const FickleNode& node : all) {
            count += node.arrivals(transaction.key);
        }
        return count;
    }
    bool hold(const MadeTransaction& transaction) const {
        return std::any_of(all.begin(), all.end(),
                           [&](const FickleNode& node) { return node.holds(transaction.hash); });
    }
};

enum class Saying : std::uint8_t { hash, other_hash, unknown, error };

Saying saying_of(const Told& told) {
    const std::string& body = told.response.body;
    if (result_of(body) == '"' + told.transaction.hash + '"') {
        return Saying::hash;
    }
    if (result_of(body) == '"' + wrong_hash() + '"') {
        return Saying::other_hash;
    }
    return code_of(body) == "-32050" ? Saying::unknown : Saying::error;
}

// Was the client told what is so? Judged once everything has come to rest.
bool is_true(const Told& told, const Nodes& nodes) {
    switch (saying_of(told)) {
        case Saying::hash:
            return nodes.hold(told.transaction);
        case Saying::other_hash:
            return told.transaction.fate == Fate::other_hash && nodes.hold(told.transaction);
        case Saying::unknown:
            return told.response.body.find(told.transaction.hash) != std::string::npos;
        case Saying::error:
            break;
    }
    return !error_of(told.response.body).empty() && !nodes.hold(told.transaction);
}

void send(RawClient& client, Told& told) {
    told.response =
        client.post("/", rpc("eth_sendRawTransaction", "[\"" + told.transaction.raw + "\"]"));
    ++told.requests;
}

// `clients` at a time. One in four of those whose outcome stays unknown asks again.
void send_all(const std::string& address, std::deque<Told>& all, unsigned clients) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < clients; ++i) {
        threads.emplace_back([&] {
            RawClient client(address);
            for (std::size_t at = next++; at < all.size(); at = next++) {
                send(client, all[at]);
                if (at % 4 == 0 && saying_of(all[at]) == Saying::unknown) {
                    send(client, all[at]);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace

TEST_CASE("a tally of writes among random faults: nothing twice, nothing untrue",
          "[daemon][tally]") {
    const std::uint64_t seed = from_environment("WEIR_FAULT_SEED", std::random_device()());
    const std::uint64_t writes = from_environment("WEIR_FAULT_WRITES", 500);
    INFO("again with WEIR_FAULT_SEED=" << seed << " WEIR_FAULT_WRITES=" << writes);
    std::mt19937_64 random(seed);
    Nodes nodes;
    std::vector<std::string> urls;
    for (int i = 0; i < 3; ++i) {
        urls.push_back(nodes.all.emplace_back(random(), 0.02).url());
    }
    DaemonConfig config = DaemonConfig::with(urls);
    config.chain = {"timeouts: {request: 2s, attempt: 1s}", "writes: {reconcile_timeout: 700ms}",
                    "rate_limits: {max_wait: 1s, max_cooldown: 20ms, default_cooldown: 20ms}"};
    for (DaemonConfig::Upstream& upstream : config.upstreams) {
        upstream.more = "rate: {calls_per_second: 100000}";  // none is learned
    }
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    std::deque<Told> all;
    while (all.size() < writes) {
        all.push_back({.transaction = make_transaction(random), .response = {}});
    }
    send_all(daemon.rpc_address(), all, 32);

    std::size_t taken = 0;
    std::size_t confirmed = 0;
    for (const Told& told : all) {
        const MadeTransaction& transaction = told.transaction;
        const int arrivals = nodes.arrivals(transaction);
        if (arrivals > told.requests || !is_true(told, nodes)) {
            FAIL_CHECK("fate " << static_cast<int>(transaction.fate) << ", " << arrivals
                               << " arrivals of " << told.requests << " requests, held "
                               << nodes.hold(transaction) << ": " << told.response.body << '\n'
                               << daemon.admin("/api/transactions/" + transaction.hash).body);
        }
        if (nodes.hold(transaction)) {
            ++taken;
            confirmed += saying_of(told) == Saying::unknown ? 0 : 1;
        }
    }
    // Most of what was taken can be found out about.
    INFO(taken << " taken, " << confirmed << " confirmed");
    CHECK(taken > writes / 3);
    CHECK(confirmed * 10 >= taken * 9);
}
