// Asks every upstream of every chain who it is and where its head stands, as cheaply as it can.
#pragma once

#include "routing/provider_book.hpp"
#include "runtime/event.hpp"
#include "runtime/task.hpp"
#include "runtime/task_group.hpp"
#include "runtime/worker.hpp"
#include "upstream/pool.hpp"
#include "upstream/transport.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace weir::upstream {

// How fast to ask; the configuration's intervals come on top.
struct PollPace {
    core::Duration shortest_auto = std::chrono::seconds(1);  // between polls under traffic
    core::Duration longest_auto = std::chrono::seconds(12);
    core::Duration idle = std::chrono::seconds(60);        // between polls, and between probes of
                                                           // what is down, without traffic
    core::Duration first_retry = std::chrono::seconds(1);  // after a failure, doubled each time
    core::Duration longest_retry = std::chrono::seconds(15);
    core::Duration longest_when_down = std::chrono::seconds(2);  // clients call and nobody serves
    core::Duration quarantine = std::chrono::seconds(5);  // between the good checks that end one
    // Between questions for what is safe and finalized, under traffic only; and where there is no
    // such tag.
    core::Duration settled = std::chrono::minutes(1);
    core::Duration settled_lacking = std::chrono::hours(1);
    core::Duration shortest_gap = std::chrono::milliseconds(100);  // however urgent
};

// Lives on one worker, for all chains. Its pools must outlive it; join it with stop().
class Poller {
  public:
    // The transport knows the chains of the pools by numbers from `first_chain` on. `providers`
    // must outlive it.
    Poller(runtime::Worker& worker, Transport& transport, std::vector<Pool*> pools,
           const routing::ProviderBook& providers, PollPace pace = {}, std::size_t first_chain = 0);
    ~Poller();
    Poller(const Poller&) = delete;
    Poller& operator=(const Poller&) = delete;

    // Before any thread reports to the pools. Every upstream is asked at once.
    void start();

    // Ends what runs and returns when nothing is left.
    runtime::Task<> stop();

  private:
    struct Watch;
    struct Shared;

    static runtime::Task<bool> take_turn(Shared& shared, Watch& watch,
                                         const routing::MethodTraits& method);
    static runtime::Task<bool> check_checkpoint(Shared& shared, Watch& watch,
                                                Cancellation& cancellation);
    static runtime::Task<> ask_settled(Shared& shared, Watch& watch, Cancellation& cancellation);
    static runtime::Task<> watch_upstream(Shared& shared, Watch& watch);
    static runtime::Task<> tick_pool(Shared& shared, std::size_t chain);

    std::unique_ptr<Shared> shared_;
};

}  // namespace weir::upstream
