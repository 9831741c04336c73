// One transaction, and a handler that is quick to give up on it.
#pragma once

#include "component/handler_fixture.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace weir::test {

// The example of EIP-155 and its hash.
inline constexpr const char* kRaw =
    "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080"
    "25a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aec"
    "b703304b3800ccf555c9f3dc64214b297fb1966a3b6d83";
inline constexpr const char* kHash =
    "0x33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788";

inline std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

inline std::string broadcast(std::string_view method = "eth_sendRawTransaction") {
    return call("1", method, '[' + quoted(kRaw) + ']');
}

inline std::string hash_answer() {
    return R"({"jsonrpc":"2.0","id":1,"result":)" + quoted(kHash) + '}';
}

inline bool is_broadcast(const Sent& message) {
    return message.body.find("eth_sendRawTransaction") != std::string::npos;
}

inline std::size_t broadcasts(const Fixture& f) {
    return static_cast<std::size_t>(
        std::count_if(f.transport.sent.begin(), f.transport.sent.end(), is_broadcast));
}

inline Reaction known() { return result(R"({"blockHash":null,"hash":)" + quoted(kHash) + '}'); }

// `reply` to a broadcast, `lookup` to everything else.
inline ScriptedTransport::Script script(Reaction reply, Reaction lookup) {
    return [reply, lookup](const Sent& message) { return is_broadcast(message) ? reply : lookup; };
}

inline config::Config quick_config(std::size_t upstreams) {
    config::Config config = make_config(upstreams);
    config.chains[0].writes.reconcile_timeout = 400ms;
    config.chains[0].timeouts.request = 900ms;
    return config;
}

struct Quick : Fixture {
    explicit Quick(std::size_t upstreams) : Fixture(quick_config(upstreams)) {}
};

}  // namespace weir::test
