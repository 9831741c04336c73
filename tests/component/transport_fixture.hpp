// A worker with a real transport, and ways to run attempts on it.
#pragma once

#include "runtime/task_group.hpp"
#include "runtime/worker.hpp"
#include "support/catch.hpp"
#include "support/scripted_peer.hpp"
#include "upstream/http_transport.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::test {

// What a test sets apart from the defaults.
struct AttemptOptions {
    std::string body = R"({"jsonrpc":"2.0","id":1,"method":"eth_chainId"})";
    core::Duration time = core::seconds(10);
    upstream::Connection connection = upstream::Connection::pooled;
    std::size_t reply_buffer = 1 << 20;
    std::size_t max_reply = 8 << 20;
    upstream::Cancellation* cancellation = nullptr;
    bool read_rest = true;
};

// What came of it, the rest of a long body read to its end.
struct Outcome {
    std::optional<routing::TransportFailure> failure;
    routing::HttpHead head;
    std::string body;
    bool had_rest = false;

    bool good() const { return !failure; }
    std::optional<routing::Cause> cause() const {
        return failure ? std::optional(failure->cause) : std::nullopt;
    }
    bool is_nobodys_fault() const {
        return failure && failure->origin == routing::TransportFailure::Origin::gateway;
    }
    bool sent_nothing() const {
        return failure && failure->sent == routing::TransportFailure::Sent::nothing;
    }
};

class TransportFixture {
  public:
    explicit TransportFixture(std::uint16_t port, upstream::TransportSettings settings = {},
                              const std::function<void(config::Chain&)>& adjust = {},
                              std::size_t max_buffered = 64 << 20);
    ~TransportFixture();

    Outcome send(AttemptOptions options = {});

    // Starts an attempt; drive() runs the worker until `condition` holds (ten seconds at most).
    std::shared_ptr<std::optional<Outcome>> start(AttemptOptions options);
    bool drive(const std::function<bool()>& condition);

    std::size_t idle() const { return transport->idle_count(0, 0); }

    runtime::SystemClock clock;
    runtime::SystemRandom random;
    runtime::MemoryBudget budget;
    runtime::Worker worker;
    runtime::TaskGroup tasks;
    std::vector<config::Chain> chains;
    std::unique_ptr<upstream::HttpTransport> transport;
    std::size_t most_buffered = 0;  // while rests were read
};

}  // namespace weir::test
