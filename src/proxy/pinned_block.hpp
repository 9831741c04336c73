// The one block of a pinned request, and what its reads have found of who has it.
#pragma once

#include "chain/observation.hpp"
#include "core/time.hpp"
#include "jsonrpc/request.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/gateway_error.hpp"
#include "proxy/plan.hpp"
#include "proxy/services.hpp"
#include "routing/hash_reads.hpp"
#include "routing/methods.hpp"
#include "routing/pin.hpp"
#include "routing/select.hpp"
#include "runtime/event.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::proxy {

// Why no upstream can serve the block.
enum class Unavailable : std::uint8_t { pruned, reorganised, unknown, no_upstream };
std::string_view to_string(Unavailable reason);

// What is not known of the block is left out.
GatewayError snapshot_unavailable(std::optional<std::uint64_t> number, std::string_view hash,
                                  Unavailable reason, std::string_view chain);

// What a survey showed of who has the block.
struct Surveyed {
    routing::Tried lacking = {};  // these said that they do not
    routing::Tried late = {};     // these did not answer when others did
};

enum class Holding : std::uint8_t {
    holds,
    lacks,
    no_answer,
};

// One worker. Lives as long as the request's reads.
class PinnedBlock {
  public:
    // The references must outlive it. `deadline` bounds what it asks, for the client of `payer`.
    PinnedBlock(Services& services, ChainContext& chain, const CallPlan& payer,
                chain::BlockId block, const Surveyed& surveyed, core::TimePoint deadline);
    PinnedBlock(const PinnedBlock&) = delete;
    PinnedBlock& operator=(const PinnedBlock&) = delete;

    const chain::BlockId& block() const { return block_; }
    // What a read of it needs beside what any read does: whom it rather leaves to the last.
    void add_to(routing::Need& need) const;

    // Has any upstream been seen to have it on its chain? Until then it is but what a client says.
    bool is_seen() const { return seen_; }
    // As far as is known without asking.
    void look_up();

    // Does the upstream have the block on its chain, as far as was seen lately by anybody?
    runtime::Task<Holding> check(routing::UpstreamIndex upstream);
    // The same, asked of it by this request at `since` or later; `begun()` for any time.
    runtime::Task<Holding> check_since(routing::UpstreamIndex upstream, core::TimePoint since);
    core::TimePoint begun() const { return begun_; }

    // May the read be asked there by hash? Finds out whether the upstream heeds hashes at all.
    runtime::Task<bool> takes_hash(routing::UpstreamIndex upstream,
                                   const routing::MethodTraits& traits);

    // It has the block, but not its state any more; it says that it knows no such block.
    void note_pruned() { pruned_ = true; }
    void note_unknown() { unknown_ = true; }

    routing::Tried lacking() const;                                 // not to be asked
    Unavailable reason() const;                                     // if nobody could serve
    routing::Cause trouble(routing::UpstreamIndex upstream) const;  // of a check without answer
    // Sent beside the attempts of reads.
    unsigned messages() const { return messages_; }
    void note_message() { ++messages_; }

  private:
    // Something that one task does while others wait for its end.
    struct Errand {
        bool running = false;
        std::vector<runtime::Event*> waiting;
    };
    struct Known {
        bool lacks = false;  // as it said twice: another node may have answered at first
        unsigned misses = 0;
        std::optional<core::TimePoint> missed_at;
        std::optional<core::TimePoint> held_at;  // when the question that showed it was asked
        std::optional<core::TimePoint> failed_at;
        routing::Cause trouble = routing::Cause::answered;
        Errand check;
        Errand trial;
    };

    bool is_known_to_hold(routing::UpstreamIndex upstream) const;
    runtime::Task<> wait_for(Errand& errand);
    static void end(Errand& errand);
    runtime::Task<> ask(routing::UpstreamIndex upstream);
    runtime::Task<> try_hashes(routing::UpstreamIndex upstream,
                               const routing::MethodTraits& traits);
    runtime::Task<std::optional<routing::HashReads::Trial>> try_hash(
        routing::UpstreamIndex upstream, const routing::MethodTraits& traits, std::size_t number);
    runtime::Task<bool> wait_for_turn(core::TimePoint at);

    Services& services_;
    ChainContext& chain_;
    const CallPlan& payer_;
    const chain::BlockId block_;
    const Surveyed surveyed_;
    const core::TimePoint deadline_;
    const core::TimePoint begun_;
    std::vector<Known> known_;  // by upstream
    bool seen_ = false;
    bool pruned_ = false;
    bool replaced_ = false;  // somebody has another block at that height
    bool unknown_ = false;
    unsigned messages_ = 0;
};

// One pinned call: what it is by hash, for an array, and what became of it.
struct PinnedCall {
    PinnedBlock& block;
    std::string params = {};  // of `by_hash`
    jsonrpc::Call by_hash = {};
    std::optional<routing::BlockForm> form = {};  // how it was served
    core::Duration time = {};                     // of the attempt that served it
    unsigned in_vain = 0;  // messages beside its attempts: by hash, where it was not served so
    // Upstreams that lacked the block when they were asked the call: once, and again.
    routing::Tried missed = {};
    routing::Tried missed_again = {};
};

}  // namespace weir::proxy
