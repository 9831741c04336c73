// A simulated provider: an HTTP server on loopback that does what its script says.
#pragma once

#include "runtime/ports.hpp"
#include "runtime/task.hpp"
#include "simulator/chain.hpp"
#include "simulator/responder.hpp"
#include "simulator/script.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir::simulator {

// Lives on one event loop. The chain and the clock outlive both. Either stop() is awaited before
// the provider is destroyed, or the loop has ended for good.
class Provider {
  public:
    struct Settings {
        std::uint16_t port = 0;  // 0: a free one
        std::uint64_t seed = 1;  // of the random numbers for jitter and drops
    };

    // Listens when it returns. Throws std::system_error when the port cannot be had.
    Provider(boost::asio::io_context& io, const runtime::Clock& clock, const SimulatedChain& chain,
             Script script, Settings settings);
    Provider(boost::asio::io_context& io, const runtime::Clock& clock, const SimulatedChain& chain,
             Script script);
    ~Provider();
    Provider(const Provider&) = delete;
    Provider& operator=(const Provider&) = delete;

    std::uint16_t port() const;
    std::string url() const;  // http://127.0.0.1:PORT/

    // Ends the listener and every connection.
    runtime::Task<> stop();

    // Any thread. The change holds for messages that are read after it, also on connections that
    // stand; availability follows once the loop runs.
    void change(const std::function<void(Script&)>& edit);
    Script script() const;

    // Any thread.
    Counts counts() const;
    std::vector<Message> messages() const;
    std::vector<std::string> raw_transactions() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace weir::simulator
