// A node that answers a gateway's own probes well, and every other call as a test's script says.
#pragma once

#include "support/scripted_peer.hpp"

#include <atomic>
#include <functional>
#include <string>

namespace weir::test {

class FaultyNode {
  public:
    // What a script gets of one call.
    struct Asked {
        PeerConnection& connection;
        std::string id;       // raw
        std::string request;  // head and body
    };
    using Script = std::function<void(const Asked& asked)>;

    // When the script returns, the connection is kept: another call on it counts as a reuse.
    explicit FaultyNode(Script script, const Certificate* certificate = nullptr);

    std::uint16_t port() const { return peer_.port(); }
    std::string url() const;
    int connections() const { return peer_.connections(); }
    int calls() const { return calls_; }    // those the script got
    int reuses() const { return reuses_; }  // messages on a connection after the script's first

  private:
    void serve(PeerConnection& connection);

    Script script_;
    bool tls_;
    std::atomic<int> calls_ = 0;
    std::atomic<int> reuses_ = 0;
    ScriptedPeer peer_;
};

// The result of what a gateway asks of every node by itself; empty for any other method.
std::string probe_result(const std::string& method);

// `{"jsonrpc":"2.0","id":ID,"result":RESULT}`
std::string result_reply(const std::string& id, const std::string& result);

}  // namespace weir::test
