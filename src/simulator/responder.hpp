// What a simulated provider does with one HTTP message: the script applied, without any socket.
#pragma once

#include "core/time.hpp"
#include "runtime/ports.hpp"
#include "simulator/answers.hpp"
#include "simulator/chain.hpp"
#include "simulator/reply.hpp"
#include "simulator/script.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weir::jsonrpc {
struct Request;
}

namespace weir::simulator {

// One message as it came.
struct Message {
    std::string head;  // request line and fields
    std::string body;
};

struct Counts {
    std::uint64_t connections = 0;
    std::uint64_t requests = 0;                               // HTTP messages
    std::map<std::string, std::uint64_t, std::less<>> calls;  // by method
    std::uint64_t dropped = 0;                                // closed without a reply
    std::uint64_t throttled = 0;                              // messages refused by the throttle

    std::uint64_t calls_of(std::string_view method) const {
        const auto found = calls.find(method);
        return found == calls.end() ? 0 : found->second;
    }
};

struct Reaction {
    core::Duration delay{};
    std::optional<Wire> wire;  // nothing: close the connection without a reply
};

// Any thread.
class Responder {
  public:
    Responder(const SimulatedChain& chain, const runtime::Clock& clock, Script script,
              std::uint64_t seed);

    Reaction react(const Message& message);
    void connected();

    Script script() const;
    void change(const std::function<void(Script&)>& edit);  // counts that run down stand in it

    Counts counts() const;
    std::vector<Message> messages() const;  // the first kKept, while they take under kKeptBytes
    std::vector<std::string> raw_transactions() const;  // as they came, in order, at most kKept

    static constexpr std::size_t kKept = 1000;
    static constexpr std::size_t kKeptBytes = std::size_t{16} << 20U;

  private:
    void record(const Message& message, const jsonrpc::Request& request);
    bool concerned_by_faults(const jsonrpc::Request& request) const;
    bool is_dropped();
    bool is_throttled(double calls);
    core::Duration delay_for(const jsonrpc::Request& request);
    Crooked take_crooked();
    std::string body_for(const jsonrpc::Request& request, Crooked crooked);
    Reaction react_to(const jsonrpc::Request& request);

    const SimulatedChain& chain_;
    const runtime::Clock& clock_;

    mutable std::mutex mutex_;  // guards what follows
    Script script_;
    std::mt19937_64 random_;
    Counts counts_;
    std::vector<Message> messages_;
    std::size_t message_bytes_ = 0;
    std::vector<std::string> raw_transactions_;
    Transactions transactions_;
    std::uint64_t seen_by_faults_ = 0;
    double tokens_ = 0;
    std::optional<core::TimePoint> filled_;
};

}  // namespace weir::simulator
