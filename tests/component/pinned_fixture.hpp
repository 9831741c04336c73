// Requests that are pinned to a block, over scripted nodes with chains of their own. What a node
// says of a block's state is the block's hash, so that every answer tells which block it is of.
#pragma once

#include "component/handler_fixture.hpp"
#include "core/hex.hpp"
#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/pin_wish.hpp"
#include "routing/methods.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::test {

// A block's hash from a name for its branch and its number.
inline std::string block_hash(std::string_view branch, std::uint64_t number) {
    std::string digits = core::to_quantity(number).substr(2);
    std::string name = core::encode_data(branch).substr(2);
    return "0x" + name + std::string(64 - name.size() - digits.size(), '0') + digits;
}

struct Node {
    enum class Hashes {
        taken,        // EIP-1898 as it is written
        orphans_too,  // requireCanonical is ignored
        refused,      // the object is refused as a bad parameter
        ignored,      // the object is taken for `latest`
    } hashes = Hashes::taken;
    std::vector<std::string> chain;  // hashes by number
    std::set<std::string> orphans = {};
    std::set<std::string> overlooks =
        {};                        // methods that take the object, or the hash, for `latest`
    std::uint64_t keeps_from = 0;  // state before this block is gone
    bool dead = false;

    std::uint64_t head() const { return chain.size() - 1; }
    std::optional<std::uint64_t> number_of(std::string_view hash) const {
        for (std::size_t i = 0; i < chain.size(); ++i) {
            if (chain[i] == hash) {
                return i;
            }
        }
        return std::nullopt;
    }

    // `branch` takes over from block `from` on, up to `to`.
    void reorganise(std::string_view branch, std::uint64_t from, std::uint64_t to) {
        for (std::size_t i = from; i < chain.size(); ++i) {
            orphans.insert(chain[i]);
        }
        chain.resize(from);
        grow(branch, to);
    }
    void grow(std::string_view branch, std::uint64_t to) {
        while (chain.size() <= to) {
            chain.push_back(block_hash(branch, chain.size()));
        }
    }
};

inline Node node(std::uint64_t head, std::string_view branch = "a") {
    Node made;
    made.grow(branch, head);
    return made;
}

inline config::Config equals(std::size_t upstreams) {
    config::Config config = make_config(upstreams);
    config.chains[0].timeouts.attempt = 1s;
    config.chains[0].reply_buffer = 4096;
    for (config::Upstream& upstream : config.chains[0].upstreams) {
        upstream.tier = 0;
    }
    return config;
}

struct Pinned : Fixture {
    using Answering = std::function<std::optional<Reaction>(std::size_t upstream, const Sent&)>;

    explicit Pinned(std::vector<Node> the_nodes) : Pinned(equals(the_nodes.size()), the_nodes) {}
    Pinned(config::Config settings, std::vector<Node> the_nodes)
        : Fixture(std::move(settings)), nodes(std::move(the_nodes)) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            transport.on(i, [this, i](const Sent& message) { return reply(i, message); });
        }
        poll();
    }

    void poll(std::size_t i) {
        const Node& node = nodes[i];
        pools[0]->observe_head(
            i, {.latest = {node.head(), node.chain.back()},
                .parent_hash = node.head() > 0 ? node.chain[node.head() - 1] : std::string(),
                .timestamp = 0,
                .at = clock.now()});
    }
    void poll() {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            poll(i);
        }
    }

    RecordingSink ask_at(std::string_view block, const std::string& body,
                         std::optional<std::string_view> optional = std::nullopt) {
        const auto wish = proxy::read_pin_wish({.block = block, .optional = optional, .query = {}});
        REQUIRE(wish);
        return ask(body, wish->get());
    }

    Reaction reply(std::size_t i, const Sent& message) {
        if (before) {
            if (const auto instead = before(i, message)) {
                return *instead;
            }
        }
        const Node& node = nodes[i];
        if (node.dead) {
            Reaction dead;
            dead.refused = true;
            return dead;
        }
        const auto method = std::string(
            jsonrpc::plain_string(jsonrpc::member(message.body, "method")).value_or(""));
        const std::string_view params = jsonrpc::member(message.body, "params");
        if (method == "eth_blockNumber") {
            return result('"' + core::to_quantity(node.head()) + '"');
        }
        if (method == "eth_getBlockByNumber") {
            return block_at(node, number_in(node, jsonrpc::element(params, 0)));
        }
        if (method == "eth_getBlockByHash") {
            const auto hash = jsonrpc::plain_string(jsonrpc::element(params, 0)).value_or("");
            return block_at(node, node.number_of(hash));
        }
        const routing::MethodTraits& traits = routing::find_method(method);
        if (method == "eth_getLogs") {
            return logs_at(node, jsonrpc::element(params, 0));
        }
        if (traits.block_param != routing::BlockParam::block) {
            return result("\"anything\"");
        }
        return state_at(node, method, jsonrpc::element(params, traits.block_position));
    }

    static std::string value_of(std::string_view hash) { return "\"of " + std::string(hash) + '"'; }

    std::vector<Node> nodes;
    Answering before;  // may answer in a node's stead, or change the world

  private:
    static std::optional<std::uint64_t> number_in(const Node& node, std::string_view raw) {
        const auto text = jsonrpc::plain_string(raw);
        if (raw.empty() || !text || *text == "latest" || *text == "pending") {
            return node.head();
        }
        if (*text == "earliest" || *text == "finalized" || *text == "safe") {
            return 0;
        }
        const auto number = core::parse_quantity(*text);
        return number && *number <= node.head() ? number : std::nullopt;
    }

    static Reaction block_at(const Node& node, std::optional<std::uint64_t> number) {
        if (!number) {
            return result("null");
        }
        const std::string parent = *number > 0 ? node.chain[*number - 1] : std::string();
        return result(R"({"number":")" + core::to_quantity(*number) + R"(","hash":")" +
                      node.chain[*number] + R"(","parentHash":")" + parent + R"("})");
    }

    // Of a filter for one block.
    static Reaction logs_at(const Node& node, std::string_view filter) {
        const std::string_view raw = jsonrpc::member(filter, "blockHash");
        const auto hash = jsonrpc::plain_string(raw);
        const auto number = !hash ? number_in(node, jsonrpc::member(filter, "toBlock"))
                            : node.overlooks.contains("eth_getLogs") ? node.head()
                                                                     : node.number_of(*hash);
        return number ? items_of(node, *number) : rpc_error(-32000, "unknown block");
    }

    static Reaction items_of(const Node& node, std::uint64_t number) {
        return result(R"([{"blockNumber":")" + core::to_quantity(number) + R"(","blockHash":")" +
                      node.chain[number] + R"("}])");
    }

    static Reaction state_at(const Node& node, const std::string& method, std::string_view raw) {
        std::optional<std::uint64_t> number;
        const bool overlooks =
            node.hashes == Node::Hashes::ignored || node.overlooks.contains(method);
        if (!jsonrpc::is_object(raw) || overlooks) {
            number = jsonrpc::is_object(raw) ? node.head() : number_in(node, raw);
        } else if (node.hashes == Node::Hashes::refused) {
            return rpc_error(-32602, "invalid argument 1: cannot unmarshal object");
        } else {
            const auto hash = jsonrpc::plain_string(jsonrpc::member(raw, "blockHash")).value_or("");
            number = node.number_of(hash);
            if (!number && node.orphans.contains(std::string(hash))) {
                return node.hashes == Node::Hashes::orphans_too
                           ? result(value_of(hash))
                           : rpc_error(-32000, "hash is not currently canonical");
            }
        }
        if (!number) {
            return rpc_error(-32000, "header not found");
        }
        if (method == "eth_getBlockReceipts") {
            return items_of(node, *number);
        }
        if (*number < node.keeps_from) {
            return rpc_error(-32000, "missing trie node");
        }
        return result(value_of(node.chain[*number]));
    }
};

// Does it ask for a block that nobody has, to see whether the hash is looked at?
inline bool is_trial(const Sent& message) {
    return message.body.find("776569723a20") != message.body.npos;
}

// A batch of the calls.
inline std::string batch(const std::vector<std::string>& calls) {
    std::string body;
    for (const std::string& one : calls) {
        body += (body.empty() ? '[' : ',') + one;
    }
    return body + ']';
}

inline std::string balance(std::string_view id, std::string_view block = R"("latest")") {
    return call(id, "eth_getBalance", R"(["0x01",)" + std::string(block) + ']');
}
inline std::string contract(std::string_view id, std::string_view block = R"("latest")") {
    return call(id, "eth_call", R"([{"to":"0x02"},)" + std::string(block) + ']');
}

inline std::string result_at(const std::string& body, std::size_t place) {
    return std::string(jsonrpc::member(jsonrpc::element(body, place), "result"));
}
inline std::string result_of_one(const std::string& body) {
    return std::string(jsonrpc::member(body, "result"));
}
inline std::string reason_of(std::string_view reply) {
    const std::string_view data = jsonrpc::member(jsonrpc::member(reply, "error"), "data");
    return std::string(jsonrpc::plain_string(jsonrpc::member(data, "reason")).value_or(""));
}

}  // namespace weir::test
