// What the process knows of one chain's upstreams: health, circuits, cool-downs, budgets, heads,
// in-flight counts, and the calls that wait for their turn. One per chain for all threads; every
// function may be called from any thread.
#pragma once

#include "chain/evidence.hpp"
#include "chain/observation.hpp"
#include "config/config.hpp"
#include "core/published.hpp"
#include "core/time.hpp"
#include "routing/batch_plan.hpp"
#include "routing/methods.hpp"
#include "routing/select.hpp"
#include "routing/snapshot.hpp"
#include "routing/verdict.hpp"
#include "upstream/calls_in_flight.hpp"
#include "upstream/own_rates.hpp"
#include "upstream/recent_traffic.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {
class ProviderBook;
}

namespace weir::upstream {

// The right to have one message in flight at an upstream; given back when destroyed.
class Permit;

// One finished attempt, as health sees it.
struct AttemptReport {
    routing::UpstreamIndex upstream = 0;
    std::string_view method;
    const routing::MethodTraits* traits = nullptr;
    routing::Verdict verdict;
    core::Duration latency{};
    std::uint64_t call_hash = 0;  // of method and params: a circuit needs two different calls
    core::TimePoint at;
    std::size_t answers = 1;  // calls that it answered, where the verdict is an answer
    std::optional<std::uint64_t> state_block = {};  // the block whose state it asked for, by number
};

class Pool;

class Permit {
  public:
    Permit() = default;
    Permit(Permit&& other) noexcept;
    Permit& operator=(Permit&& other) noexcept;
    ~Permit();

  private:
    friend class Pool;
    Permit(Pool& pool, routing::UpstreamIndex upstream) : pool_(&pool), upstream_(upstream) {}
    Pool* pool_ = nullptr;
    routing::UpstreamIndex upstream_ = 0;
};

// What stands between a call and an upstream.
enum class Obstacle : std::uint8_t {
    none,
    unfit,     // it may not serve at all
    capacity,  // its in-flight cap, or half-open with its trial under way
    limit,     // a cool-down, its budget, or calls that came first
};

struct Admission {
    std::optional<Permit> permit;
    Obstacle obstacle = Obstacle::none;  // none with a permit only
};

// The place of an array, for as many of its calls from the first on as may go: two at least.
struct BatchAdmission {
    std::optional<Permit> permit;
    std::size_t calls = 0;
    bool borne_out = false;  // arrays of this size were taken before
    Obstacle obstacle = Obstacle::none;
};

// What became of an array.
struct BatchReport {
    enum class End : std::uint8_t {
        taken,
        refused,  // for the number of its calls
        cut,      // only the first `named` of its calls were answered
        lost,     // it failed as a whole, and nothing says why
    } end = End::taken;
    std::size_t calls = 0;
    std::optional<std::size_t> named;  // the limit that the refusal spoke of, or showed
    core::TimePoint at;
};

// What a call's cost rests on. The name tells what the method table does not know.
struct CallKind {
    // Not explicit: a method's traits alone are a kind of call too.
    CallKind(const routing::MethodTraits& of_method,  // NOLINT(google-explicit-constructor)
             std::string_view name = {})
        : traits(of_method), method(name) {}
    const routing::MethodTraits& traits;
    std::string_view method;
};

// What the queue of calls is asked for. The method's name must live as long as the call waits.
struct Turn {
    routing::Tried among;  // upstreams, any of which will do
    const routing::MethodTraits* traits = nullptr;
    std::string_view method = {};
    std::uint64_t share = 0;  // whose: clients take turns with each other

    CallKind kind() const { return {*traits, method}; }
};

// When a turn would come, as far as can be told.
struct Outlook {
    core::TimePoint ready_at;  // best guess: behind those that wait now, all of which are served
    // When one who comes back may be served: an upstream can take a call, and those that wait now
    // have had their turn or have given up.
    core::TimePoint capacity_at;
    // A limit where one stands before any of the upstreams, else a cap; unfit where all are.
    Obstacle obstacle = Obstacle::none;
};

// A call in the queue. The pool calls from any thread, under its lock: post, and do nothing else.
class Waiter {
  public:
    explicit Waiter(const Turn& turn) : wants(turn) {}
    virtual ~Waiter() = default;

    // Its turn has come: it is charged for and no longer in the queue.
    virtual void on_turn(routing::UpstreamIndex upstream, Permit permit) = 0;

    // It is the first: Pool::run_queue() is to be called at `when`.
    virtual void on_first(core::TimePoint when) = 0;

    const Turn wants;
    core::TimePoint until{};             // it leaves the queue then; the pool's
    Obstacle obstacle = Obstacle::none;  // as it came to the queue; the pool's

  private:
    friend class Pool;
    std::uint64_t tag_ = 0;  // where it stands in the queue
};

// A row of the status page.
struct UpstreamStatus {
    std::string name;
    unsigned tier = 0;
    routing::UpstreamState state = routing::UpstreamState::unknown;
    std::string reason;
    std::optional<chain::BlockId> head;
    chain::Settled settled;
    std::uint64_t lag_blocks = 0;
    bool apart = false;  // its blocks are other ones than most others have
    double score = 0;
    std::optional<double> success_rate;  // 0 to 1; nothing before traffic
    double throttled_share = 0;          // of recent attempts, 0 to 1
    std::optional<core::Duration> latency_p50;
    std::optional<core::Duration> latency_p95;
    std::size_t in_flight = 0;
    std::size_t batch_limit = 0;  // 0: not known
    core::Duration cooldown{};
    std::optional<double> calls_per_second;  // configured or learned; nothing: not limited
    bool rate_is_learned = false;
    double units_per_second = 0;      // 0: not limited
    std::uint64_t units_per_day = 0;  // likewise
    std::uint64_t units_today = 0;
    std::optional<core::Duration> renews_in;  // the daily allowance
    std::uint64_t probe_units = 0;  // spent on the gateway's own questions since the start
    std::vector<std::string> unsupported_methods;
    std::vector<chain::Tag> unsupported_tags;
};

class Pool {
  public:
    // Without a client's call for so long a chain counts as idle.
    static constexpr core::Duration kIdleAfter = std::chrono::seconds(60);

    // Calls cost what the upstream's profile says, or without profiles the methods' own weights.
    Pool(const config::Chain& chain, core::TimePoint now);
    Pool(const config::Chain& chain, core::TimePoint now, const routing::ProviderBook& providers);

    // The successor of a pool of the same chain. Upstreams that were there (`places`: each one's
    // place in `before`) go on as they are, for both pools: health, budgets, calls in flight are
    // the same ones, as far as the configuration of these has not changed. What is known of the
    // chain is taken over. `before` serves the requests that began with it, and may be polled no
    // more.
    struct Succession {
        const Pool& before;
        std::span<const std::optional<routing::UpstreamIndex>> places;
    };
    Pool(const config::Chain& chain, core::TimePoint now, const routing::ProviderBook& providers,
         const Succession& succession);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    const config::Chain& chain() const;

    // The picture that requests decide on. Per-thread readers are made from it.
    const core::Published<routing::RoutingSnapshot>& snapshots() const;

    // A permit is charged to the upstream's budget at once.
    Admission admit(routing::UpstreamIndex upstream, const CallKind& call, core::TimePoint now);

    // What each upstream has room for now, for one who has so many calls of about this cost.
    std::vector<routing::BatchRoom> batch_rooms(std::size_t calls, const CallKind& typical,
                                                core::TimePoint now);
    // Every call that goes is charged to the budget at once.
    BatchAdmission admit_batch(routing::UpstreamIndex upstream, std::span<const CallKind> calls,
                               core::TimePoint now);
    // With the place of a turn, which has paid for the first call; it is given back if no array
    // may go.
    BatchAdmission admit_batch(Permit place, routing::UpstreamIndex upstream,
                               std::span<const CallKind> calls, core::TimePoint now);
    // For the upstream's batch limit alone; health hears of an array by report().
    void report_batch(routing::UpstreamIndex upstream, const BatchReport& report);

    // What a call costs there, in the provider's own units.
    std::uint64_t units_of(routing::UpstreamIndex upstream, const CallKind& call) const;

    // A question that is charged now: it may go at the time returned, if the upstream does not rest
    // by then.
    core::TimePoint charge(routing::UpstreamIndex upstream, const routing::MethodTraits& traits,
                           core::TimePoint now);
    // The same for one of the gateway's own, counted as such.
    core::TimePoint charge_probe(routing::UpstreamIndex upstream,
                                 const routing::MethodTraits& traits, core::TimePoint now);

    // The queue of one chain, for each upstream: first come, first served among the calls of one
    // share; shares take turns, so that a call waits behind one call of each other share, however
    // many these have waiting. At most kMaxWaiting calls, and of one named share no more than leave
    // as many places free.
    static constexpr std::size_t kMaxWaiting = 1024;
    enum class Joined : std::uint8_t { yes, too_late, full };
    // Joins unless the turn would come after `until`. The waiter is kept until its turn has come or
    // leave() was called.
    Joined join(std::shared_ptr<Waiter> waiter, core::TimePoint until, core::TimePoint now);
    // False: it is not in the queue any more, so on_turn() has been called.
    bool leave(const Waiter& waiter, core::TimePoint now);
    // Gives turns to those whose time has come.
    void run_queue(core::TimePoint now);
    Outlook outlook(const Turn& turn, core::TimePoint now) const;

    // Daily allowances are renewed by it.
    void observe_wall_clock(core::WallTime wall, core::TimePoint now);

    // Every attempt ends here once. Hedges that lost and attempts that the client's own leaving cut
    // off are not reported.
    void report(const AttemptReport& report);

    // Observations by the poller. A chain id that differs puts the upstream into quarantine.
    void observe_chain_id(routing::UpstreamIndex upstream, std::uint64_t chain_id,
                          core::TimePoint now);
    void observe_head(routing::UpstreamIndex upstream, const chain::Observation& observation);
    // Nothing: it has no such tag.
    void observe_tag(routing::UpstreamIndex upstream, chain::Tag tag,
                     const std::optional<chain::BlockId>& block, core::TimePoint now);
    void observe_failure(routing::UpstreamIndex upstream, const routing::Verdict& verdict,
                         core::TimePoint now);
    // As above, and calls that waited for the answer go on.
    void observe_chain_id_failure(routing::UpstreamIndex upstream, const routing::Verdict& verdict,
                                  core::TimePoint now);

    // Its block at the checkpoint's height is another one: quarantine, whatever its chain id.
    void observe_wrong_checkpoint(routing::UpstreamIndex upstream, const chain::BlockId& block,
                                  core::TimePoint now);

    // A client's answer showed the upstream's head; perhaps its number alone.
    void observe_answer(routing::UpstreamIndex upstream, const chain::Observation& observation);

    // An operator takes an upstream out (it gets no new call, what runs ends), and lets it back,
    // also where it rests because its plan was spent.
    void drain(routing::UpstreamIndex upstream, core::TimePoint now);
    void resume(routing::UpstreamIndex upstream, core::TimePoint now);

    // Where upstreams contradicted each other or themselves, oldest first; bounded.
    std::vector<chain::Disagreement> disagreements() const;
    void note(chain::Disagreement disagreement);
    // Called by tick() for each new one. Before any thread reports to the pool.
    using Listener = std::function<void(const chain::Disagreement&)>;
    void on_disagreement(Listener listener);

    // Something that changes with time alone (a cool-down's end, a circuit's half-opening) is due.
    // Returns when it next needs to be called.
    core::TimePoint tick(core::TimePoint now);

    // True once any upstream has been fit since the start; and now.
    bool has_been_fit() const;
    bool is_fit_now() const;

    // What a poller needs to know. While an upstream cools down, or its plan is spent, it gets
    // nothing at all: not before the time returned.
    core::TimePoint rests_until(routing::UpstreamIndex upstream) const;
    // On the right chain by its latest check, and no connection has broken in a call since.
    bool is_identified(routing::UpstreamIndex upstream) const;
    struct HeadSeen {
        core::TimePoint at;
        bool whole = false;  // its hash too
    };
    std::optional<HeadSeen> head_seen(routing::UpstreamIndex upstream) const;
    core::Duration block_time() const;

    // Called, from any thread, when upstreams should be asked soon: clients are back after an idle
    // time (nothing: all of them), or an upstream's identity or credentials are in doubt. It must
    // not call the pool. An empty function ends it: no call is under way after on_wake() returns.
    using Wake = std::function<void(std::optional<routing::UpstreamIndex>)>;
    void on_wake(Wake wake);

    // The last call by a client, which decides how often to poll.
    void note_client_call(core::TimePoint now);
    core::TimePoint last_client_call() const;

    std::vector<UpstreamStatus> status(core::TimePoint now) const;

    // What clients met, for the status page.
    RecentTraffic& traffic();
    CallsInFlight& calls_in_flight();
    OwnRates& own_rates();

  private:
    friend class Permit;
    void release(routing::UpstreamIndex upstream);
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace weir::upstream
