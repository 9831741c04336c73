// A Transport whose upstreams answer as a test says, without a socket.
#pragma once

#include "core/time.hpp"
#include "runtime/worker.hpp"
#include "upstream/transport.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace weir::test {

// What an upstream does with one message.
struct Reaction {
    int status = 200;
    std::string body;  // `{id}` stands for the id that was sent
    core::Duration delay{};
    bool lost = false;        // the connection breaks after the message was sent
    bool refused = false;     // no connection: nothing was sent
    bool hangs = false;       // until the deadline or cancellation
    std::size_t piece = 0;    // of a long reply: bytes per read
    bool breaks_off = false;  // a long reply ends early
    std::string retry_after;
    std::string date;
};

Reaction result(std::string json);
Reaction rpc_error(int code, std::string message);
Reaction limited(std::string retry_after);  // 429; the header's value
Reaction unauthorized();                    // 401
Reaction unavailable();                     // 503
Reaction html(int status);
Reaction lost();
Reaction refused();
Reaction hangs();

struct Sent {
    routing::UpstreamIndex upstream = 0;
    std::string body;
    upstream::Connection connection = upstream::Connection::pooled;
};

class ScriptedTransport final : public upstream::Transport {
  public:
    using Script = std::function<Reaction(const Sent& message)>;

    explicit ScriptedTransport(runtime::Worker& worker) : worker_(worker) {}

    void on(routing::UpstreamIndex upstream, Script script) { scripts_[upstream] = script; }
    void on(routing::UpstreamIndex upstream, Reaction reaction) {
        scripts_[upstream] = [reaction](const Sent&) { return reaction; };
    }

    // What it does with arrays as a whole. Without it, an array is answered call by call; a call
    // whose reaction is no plain reply decides for all.
    void on_array(routing::UpstreamIndex upstream, Script script) { arrays_[upstream] = script; }
    void on_array(routing::UpstreamIndex upstream, Reaction reaction) {
        arrays_[upstream] = [reaction](const Sent&) { return reaction; };
    }

    runtime::Task<upstream::TransportResult> send(const upstream::Attempt& attempt) override;

    std::vector<Sent> sent;
    std::size_t count(routing::UpstreamIndex upstream) const;

  private:
    Reaction react(const Sent& message);

    runtime::Worker& worker_;
    std::map<routing::UpstreamIndex, Script> arrays_;
    std::map<routing::UpstreamIndex, Script> scripts_;
};

}  // namespace weir::test
