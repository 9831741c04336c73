// Batches of balances over scripted upstreams, and what these do with arrays.
#pragma once

#include "component/handler_fixture.hpp"
#include "support/rpc.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::test {

// Balances of addresses 0 to `count`, under odd ids.
inline std::string balances(std::size_t count) {
    std::string body = "[";
    for (std::size_t i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        body += (i == 0 ? "" : ",") +
                call("\"c" + number + '"', "eth_getBalance", "[\"" + number + "\",\"latest\"]");
    }
    return body + ']';
}

inline std::string value_of(std::string_view sent_call) {
    return '"' +
           std::string(
               *jsonrpc::plain_string(jsonrpc::element(jsonrpc::member(sent_call, "params"), 0))) +
           " wei\"";
}

// The good reply to one call of an array.
inline std::string reply_to(std::string_view sent_call) {
    return R"({"jsonrpc":"2.0","id":)" + std::string(jsonrpc::member(sent_call, "id")) +
           R"(,"result":)" + value_of(sent_call) + '}';
}

inline std::vector<std::string> replies_to(const Sent& message) {
    std::vector<std::string> replies;
    for (std::size_t i = 0; i < jsonrpc::element_count(message.body); ++i) {
        replies.push_back(reply_to(jsonrpc::element(message.body, i)));
    }
    return replies;
}

inline Reaction array_of(const std::vector<std::string>& replies) {
    Reaction reaction;
    for (const std::string& reply : replies) {
        reaction.body += (reaction.body.empty() ? "[" : ",") + reply;
    }
    reaction.body += reaction.body.empty() ? "[]" : "]";
    return reaction;
}

inline Reaction balance(const Sent& message) {
    Reaction reaction;
    reaction.body = reply_to(message.body);
    return reaction;
}

inline Reaction good(const Sent& message) { return array_of(replies_to(message)); }

// Refuses arrays of more than `most`.
inline ScriptedTransport::Script limited_to(const std::size_t& most, std::string refusal) {
    return [&most, refusal](const Sent& message) {
        Reaction reaction = good(message);
        if (jsonrpc::element_count(message.body) > most) {
            reaction.status = 413;
            reaction.body = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32014,"message":")" +
                            refusal + "\"}}";
        }
        return reaction;
    };
}

struct Batches : Fixture {
    explicit Batches(std::size_t upstreams) : Batches(make_config(upstreams)) {}
    explicit Batches(config::Config settings) : Fixture(std::move(settings)) {
        for (std::size_t i = 0; i < config.chains[0].upstreams.size(); ++i) {
            transport.on(i, balance);
            transport.on_array(i, good);
        }
    }

    // Every balance, each under its id, in order.
    void check(const RecordingSink& sink, std::size_t count) const {
        REQUIRE(jsonrpc::element_count(sink.body) == count);
        CHECK(sink.head.status == 200);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string reply = item(sink.body, i);
            const std::string number = std::to_string(i);
            wrong +=
                id_of(reply) == "\"c" + number + '"' && result_of(reply) == '"' + number + " wei\""
                    ? 0U
                    : 1U;
        }
        CHECK(wrong == 0);
    }

    // Of the arrays, largest first.
    std::vector<std::size_t> sorted_sizes() const {
        std::vector<std::size_t> all = sizes();
        std::sort(all.rbegin(), all.rend());
        return all;
    }

    std::vector<std::size_t> sizes() const {
        std::vector<std::size_t> sizes;
        for (const Sent& message : transport.sent) {
            sizes.push_back(std::max<std::size_t>(1, jsonrpc::element_count(message.body)));
        }
        return sizes;
    }
};

}  // namespace weir::test
