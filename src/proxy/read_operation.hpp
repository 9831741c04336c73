// The life of one read: attempts one after another, beside another when one is late, until an
// answer, the last attempt or the deadline.
#pragma once

#include "core/time.hpp"
#include "proxy/answer.hpp"
#include "proxy/attempt.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/earlier.hpp"
#include "proxy/failure.hpp"
#include "proxy/patience.hpp"
#include "proxy/plan.hpp"
#include "proxy/second_opinion.hpp"
#include "proxy/services.hpp"
#include "routing/select.hpp"
#include "runtime/event.hpp"
#include "runtime/recycled.hpp"
#include "runtime/task_group.hpp"

#include <memory>
#include <optional>

namespace weir::proxy {

using Snapshot = std::shared_ptr<const routing::RoutingSnapshot>;

class ReadOperation final : public runtime::Recycled, private ClientPresence::Listener {
  public:
    // The references must live until the task has ended. `only` binds the call to one upstream.
    static runtime::Task<Answer> run(Services& services, ChainContext& chain,
                                     const Snapshot& snapshot, const CallPlan& plan,
                                     std::string_view params, core::TimePoint deadline,
                                     LongReplies long_replies, ClientPresence& client,
                                     std::optional<routing::UpstreamIndex> only);

    ~ReadOperation() { client_.remove(*this); }

  private:
    class Running;

    ReadOperation(Services& services, ChainContext& chain, const Snapshot& snapshot,
                  const CallPlan& plan, std::string_view params, core::TimePoint deadline,
                  LongReplies long_replies, ClientPresence& client,
                  std::optional<routing::UpstreamIndex> only);

    runtime::Task<> run_attempts();
    bool has_ended();
    void look_again();
    void begin_round();
    upstream::Turn turn_among_limited() const;
    runtime::Task<bool> wait_for_turn();
    void on_client_gone() override;
    std::optional<upstream::Granted> admit(core::TimePoint now);
    std::optional<routing::UpstreamIndex> choose(core::TimePoint now);
    void take_over(Earlier&& earlier);
    runtime::Task<Judged> send(const AttemptOptions& options);
    void settle(routing::UpstreamIndex upstream, Judged&& judged);
    void refuse(routing::UpstreamIndex upstream);
    void settle_failure(routing::UpstreamIndex upstream, routing::Cause cause,
                        std::optional<Answer>&& said);
    void settle_loser(const Running& running, Judged&& judged);
    bool is_retry() const;
    std::optional<core::TimePoint> hedge_time(routing::UpstreamIndex upstream,
                                              core::TimePoint now) const;
    void hedge(routing::UpstreamIndex upstream);
    void start_another();
    void cancel_others();
    bool may_pause_and_retry(core::TimePoint resume) const;
    Answer give_up(core::TimePoint now);
    void conclude();

    Services& services_;
    ChainContext& chain_;
    const routing::RoutingSnapshot* snapshot_;
    Snapshot later_;  // one that was taken meanwhile; or none
    const CallPlan& plan_;
    const std::string_view params_;
    const core::TimePoint deadline_;
    const LongReplies long_replies_;
    ClientPresence& client_;
    const std::optional<routing::UpstreamIndex> only_;

    routing::Tried tried_;    // in this round
    routing::Tried refused_;  // not to be asked again in any round
    routing::Tried limited_;  // could be asked, but for a limit or a cap
    Patience patience_;
    SecondOpinion opinion_;
    std::optional<upstream::Granted> turn_;  // waited for, not used yet
    unsigned attempts_ = 0;
    unsigned attempts_before_ = 0;  // of these, made by somebody else
    bool retried_ = false;
    bool hedged_ = false;
    bool passing_failure_ = false;  // in this round, one that may be gone in a moment
    Ending ending_;
    std::optional<Answer> answer_;
    std::unique_ptr<Answer> last_error_;  // an upstream's own error, if nothing better comes
    Running* running_ = nullptr;          // the head of a list
    std::unique_ptr<runtime::TaskGroup> beside_;
    std::optional<runtime::Event> pause_;  // before the same upstreams are asked again
};

}  // namespace weir::proxy
