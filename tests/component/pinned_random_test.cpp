// Random pools of single nodes, with heads, forks and failures of their own that change while they
// are asked: a pinned request shows one block or says that it cannot.
#include "component/pinned_fixture.hpp"

#include <algorithm>
#include <array>
#include <random>

using namespace weir;
using namespace weir::test;

namespace {

constexpr std::uint64_t kCommon = 16;  // all nodes share the blocks up to here

class World {
  public:
    explicit World(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
    }
    bool one_in(std::size_t chance) { return below(chance) == 0; }

    std::vector<Node> nodes() {
        std::vector<Node> nodes(1 + below(5));
        for (Node& each : nodes) {
            each = node(kCommon + below(4));
            constexpr std::array kWays{Node::Hashes::taken, Node::Hashes::taken,
                                       Node::Hashes::orphans_too, Node::Hashes::refused,
                                       Node::Hashes::ignored};
            each.hashes = kWays[below(kWays.size())];
            constexpr std::array kMethods{"eth_call", "eth_getStorageAt", "eth_getLogs",
                                          "eth_getBlockReceipts"};
            if (one_in(3)) {
                each.overlooks.insert(kMethods[below(kMethods.size())]);
            }
            each.keeps_from = one_in(4) ? kCommon + 1 : 0;
            each.dead = one_in(10);
            if (one_in(3)) {
                fork(each);
            }
        }
        return nodes;
    }

    // Another block at every height from somewhere near the head on; no name comes twice.
    void fork(Node& each) {
        const std::uint64_t from = kCommon + below(each.chain.size() - kCommon);
        each.reorganise("f" + std::to_string(++forks_), from, from + below(4));
    }

    void change(Node& each) {
        switch (below(4)) {
            case 0:
                each.dead = !each.dead;
                break;
            case 1:
                each.grow("g" + std::to_string(++forks_), each.head() + 1);
                break;
            default:
                fork(each);
        }
    }

    std::optional<Reaction> trouble(const std::string& body) {
        const bool of_a_block = body.find("eth_getBlock") != body.npos;
        Reaction reaction;
        switch (below(of_a_block ? 4 : 3)) {
            case 0:
                reaction.lost = true;
                return reaction;
            case 1:
                reaction.status = 503;
                reaction.body = "busy";
                return reaction;
            case 2:
                return rpc_error(-32603, "internal error");
            default:
                return result("null");
        }
    }

    std::string reference(const std::vector<Node>& nodes) {
        const Node& some = nodes[below(nodes.size())];
        const std::uint64_t number = some.head() - below(3);
        const std::string& hash = some.chain[number];
        switch (below(5)) {
            case 0:
                return core::to_quantity(number);
            case 1:
                return hash;
            case 2:
                return std::to_string(number) + ';' + hash;
            default:
                return "latest";
        }
    }

    std::string read(std::size_t id) {
        const std::string name = std::to_string(id);
        switch (below(6)) {
            case 4:
                return call(name, "eth_getBlockReceipts", R"(["latest"])");
            case 5:
                return call(name, "eth_getLogs", R"([{"fromBlock":"latest","toBlock":"latest"}])");
            case 0:
                return contract(name);
            case 1:
                return call(name, "eth_getBalance", R"(["0x01"])");
            case 2:
                return call(name, "eth_getStorageAt", R"(["0x01","0x0","latest"])");
            default:
                return balance(name);
        }
    }

  private:
    std::mt19937 random_;
    unsigned forks_ = 0;
};

void check_answers(const RecordingSink& sink, const std::string& wanted, std::size_t calls) {
    const std::string hash = sink.head.block.substr(sink.head.block.find(';') + 1);
    if (!sink.head.block.empty() && wanted.size() >= 66) {
        CHECK(wanted.ends_with(hash));
    }
    for (std::size_t i = 0; i < calls; ++i) {
        const std::string item(jsonrpc::element(sink.body, i));
        const std::string value = result_of_one(item);
        if (jsonrpc::is_array(value)) {
            CHECK(jsonrpc::member(jsonrpc::element(value, 0), "blockHash") == '"' + hash + '"');
        } else if (!value.empty()) {
            CHECK(value == Pinned::value_of(hash));
        } else {
            CHECK(!jsonrpc::member(item, "error").empty());
        }
    }
}

}  // namespace

TEST_CASE("a pinned request never shows two blocks, nor quietly the latest one") {
    std::size_t served = 0;
    std::size_t refused = 0;
    for (unsigned seed = 1; seed <= 80; ++seed) {
        INFO("seed " << seed);
        World world(seed);
        const std::vector<Node> nodes = world.nodes();
        config::Config config = equals(nodes.size());
        config.chains[0].timeouts.request = 500ms;
        Pinned f(config, nodes);
        f.before = [&](std::size_t, const Sent& message) -> std::optional<Reaction> {
            if (world.one_in(6)) {
                world.change(f.nodes[world.below(f.nodes.size())]);
            }
            return world.one_in(25) ? world.trouble(message.body) : std::nullopt;
        };
        for (int round = 0; round < 3; ++round) {
            if (world.one_in(2)) {
                f.poll();
            }
            const std::size_t calls = 1 + world.below(5);
            std::vector<std::string> reads;
            for (std::size_t i = 0; i < calls; ++i) {
                reads.push_back(world.read(i));
            }
            const std::string wanted = world.reference(f.nodes);
            const RecordingSink sink = f.ask_at(wanted, batch(reads));
            INFO(wanted << " -> " << sink.head.block << ' ' << sink.body);
            check_answers(sink, wanted, calls);
            (sink.body.find("result") != sink.body.npos ? served : refused) += 1;
        }
    }
    CHECK(served > 80);
    CHECK(refused > 15);
}
