// What became of every transaction that was broadcast through the gateway, so that none is sent
// twice by a client's repetition and each can be told of afterwards.
#pragma once

#include "core/time.hpp"
#include "proxy/gateway_error.hpp"
#include "routing/snapshot.hpp"
#include "routing/verdict.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::proxy {

enum class WriteOutcome : std::uint8_t { pending, accepted, rejected, unknown };
std::string_view to_string(WriteOutcome outcome);

// One thing that happened to a transaction.
struct WriteEvent {
    core::WallTime at;
    std::string upstream;    // its name; empty where none is concerned
    std::string_view event;  // docs/writes.md lists them
    std::optional<routing::Cause> cause;
};

// The bytes of one broadcast on one chain. Other bytes with the same hash (a blob transaction with
// another sidecar) have a record of their own.
class TransactionRecord;

// How a broadcast ended, for the requests that joined it.
struct WriteEnd {
    WriteOutcome outcome = WriteOutcome::unknown;
    std::string error;                    // raw JSON of the upstream's own error, where it was one
    bool upstream_failed = false;         // which tells of the upstream's trouble only
    std::optional<GatewayError> refusal;  // or why nothing was sent, or nothing taken
    std::optional<std::size_t> upstream;  // who took it: its id, not its place
    std::string other_hash;  // what that one called it, where that is not the computed hash
};

// One for the process; any thread. Records go `ttl` after their last event, or earlier to keep
// their bytes within kMostBytes; one that is pending never goes.
class TransactionRecords {
  public:
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
    static constexpr std::size_t kMostEvents = 64;  // per record: its first and its newest
    static constexpr core::Duration kReplay = std::chrono::seconds(30);

    // What a request with these bytes is to do.
    enum class Step : std::uint8_t {
        send,    // it is the one that sends
        join,    // the bytes are on their way: wait for how that ends
        answer,  // accepted a moment ago, or since the request came accepted or lost from sight,
                 // as `end` says
        look_first,  // accepted long ago, or nobody knows: look it up, then perhaps send
    };
    using Ticket = std::shared_ptr<TransactionRecord>;
    struct Claim {
        Step step;
        Ticket record;
        WriteEnd end = {};
    };

    // For a request that was received at that time. With `send` and `look_first` the caller must
    // settle() the record, whatever happens.
    Claim claim(std::size_t chain, const std::string& hash, std::string_view bytes,
                core::Duration ttl, core::TimePoint received, core::TimePoint now);

    void note(const Ticket& record, WriteEvent event);
    void settle(const Ticket& record, WriteEnd end, core::TimePoint now);

    // For those who join: how it ended, or nothing yet, and then `wake` runs once when it has, on
    // the thread that settles.
    std::optional<WriteEnd> end_of(const Ticket& record, std::function<void()> wake);

    // The id of the upstream that took the transaction of that hash.
    std::optional<std::size_t> holder(std::size_t chain, std::string_view hash) const;

    // For the admin pages: the newest record of that hash on any chain.
    struct View {
        std::size_t chain = 0;
        std::string hash;
        WriteOutcome outcome = WriteOutcome::pending;
        std::vector<WriteEvent> events;
    };
    std::optional<View> find(std::string_view hash) const;

    // Those that are on their way, the oldest first.
    std::vector<View> pending() const;

    // Those of which nobody knows what became of them, the newest first.
    std::vector<View> unknown(std::size_t most) const;

    // A write of unknown outcome that nobody can look up: it has no hash.
    struct Unnamed {
        std::size_t chain = 0;
        std::string method;    // shortened to kMostName
        std::string upstream;  // its name
        core::WallTime at;
        core::TimePoint until;  // when it is forgotten
    };
    static constexpr std::size_t kMostUnnamed = 64;
    static constexpr std::size_t kMostName = 64;
    void note(Unnamed write);
    // The newest first.
    std::vector<Unnamed> unnamed(core::TimePoint now) const;

    std::size_t size() const;

  private:
    using Order = std::list<Ticket>;  // oldest event first

    void touch(const Ticket& record, core::TimePoint now);
    void make_room(std::size_t bytes, core::TimePoint now);

    mutable std::mutex mutex_;
    Order order_;
    std::unordered_multimap<std::string, Order::iterator> by_hash_;
    std::size_t bytes_ = 0;
    std::deque<Unnamed> unnamed_;  // the newest first
};

}  // namespace weir::proxy
