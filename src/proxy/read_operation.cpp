#include "proxy/read_operation.hpp"

#include "proxy/client.hpp"
#include "proxy/pinned_attempt.hpp"
#include "proxy/write_upstream.hpp"
#include "runtime/event.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy {
namespace {

using routing::Cause;
using routing::Disposition;

// Gone in a moment, perhaps: the same upstream may be asked again after a pause.
bool is_passing(Cause cause) {
    return cause == Cause::timeout || cause == Cause::connect_failed ||
           cause == Cause::connection_lost || cause == Cause::bad_reply ||
           cause == Cause::server_error;
}

// Errors that speak of the gateway's own account are not the client's to see.
bool is_about_the_account(Cause cause) {
    return cause == Cause::rate_limited || cause == Cause::quota_exhausted ||
           cause == Cause::auth_failed;
}

// 50 ms, doubled with each attempt made, spread over half to one and a half of it.
core::Duration pause_after(unsigned attempts, std::uint64_t random) {
    const auto base = std::chrono::milliseconds(25) * (1U << std::min(attempts, 6U));
    return base / 2 + base * static_cast<int>(random % 1024) / 1024;
}

}  // namespace

// An attempt under way. Its deadline entry is the time at which the call is asked elsewhere too:
// early, as a hedge, and when it is late.
class ReadOperation::Running final : public runtime::DeadlineWheel::Entry {
  public:
    Running(ReadOperation& operation, routing::UpstreamIndex where)
        : Entry(operation.services_.worker.deadlines), upstream(where), operation_(operation) {
        next = std::exchange(operation_.running_, this);
    }
    ~Running() override {
        Running** link = &operation_.running_;
        while (*link != this) {
            link = &(*link)->next;
        }
        *link = next;
    }

    void arm_for(core::TimePoint late_at, std::optional<core::TimePoint> hedge_at) {
        late_at_ = late_at;
        hedges_ = hedge_at.has_value();
        arm(hedge_at.value_or(late_at));
    }

    const routing::UpstreamIndex upstream;
    upstream::Cancellation cancellation;
    bool late = false;
    Running* next = nullptr;  // in the operation's list

  private:
    void on_deadline() override {
        if (std::exchange(hedges_, false)) {
            arm(late_at_);
            operation_.hedge(upstream);
            return;
        }
        late = true;
        operation_.start_another();
    }

    ReadOperation& operation_;
    core::TimePoint late_at_{};
    bool hedges_ = false;
};

runtime::Task<Answer> ReadOperation::run(Services& services, ChainContext& chain,
                                         const Snapshot& snapshot, const CallPlan& plan,
                                         std::string_view params, core::TimePoint deadline,
                                         LongReplies long_replies, ClientPresence& client,
                                         std::optional<routing::UpstreamIndex> only) {
    // Apart from this frame: together they were too large for the allocator's quick paths.
    const std::unique_ptr<ReadOperation> operation(new ReadOperation(
        services, chain, snapshot, plan, params, deadline, long_replies, client, only));
    for (;;) {
        co_await operation->run_attempts();
        if (operation->beside_) {
            co_await operation->beside_->join();
        }
        if (operation->has_ended()) {
            break;
        }
        const core::TimePoint now = services.worker.clock.now();
        const core::TimePoint resume =
            now + pause_after(operation->attempts_, services.worker.random.next());
        if (operation->may_pause_and_retry(resume)) {
            operation->pause_.emplace(services.worker.io);
            const bool left = co_await operation->pause_->wait_until(resume);
            static_cast<void>(left);
            operation->pause_.reset();
        } else {
            const bool turn = co_await operation->wait_for_turn();
            if (!turn) {
                break;
            }
        }
        operation->begin_round();
    }
    operation->conclude();
    co_return std::move(*operation->answer_);
}

ReadOperation::ReadOperation(Services& services, ChainContext& chain, const Snapshot& snapshot,
                             const CallPlan& plan, std::string_view params,
                             core::TimePoint deadline, LongReplies long_replies,
                             ClientPresence& client, std::optional<routing::UpstreamIndex> only)
    : services_(services),
      chain_(chain),
      snapshot_(snapshot.get()),
      plan_(plan),
      params_(params),
      deadline_(deadline),
      long_replies_(long_replies),
      client_(client),
      only_(only),
      patience_(services, chain, client, deadline, plan.waited),
      opinion_(chain, plan, services.worker.clock) {
    client_.add(*this);
    if (plan.earlier != nullptr) {
        take_over(std::move(*plan.earlier));
    }
}

void ReadOperation::take_over(Earlier&& earlier) {
    attempts_ = attempts_before_ = 1;
    tried_.set(earlier.upstream);
    if (earlier.said && earlier.said->kind() == Answer::Kind::result) {
        ending_.last_cause = Cause::unknown;
        opinion_.take_over(std::move(*earlier.said));
        refuse(earlier.upstream);
        return;
    }
    if (earlier.cause == Cause::block_unknown) {
        static_cast<void>(opinion_.judge_unknown_block());
    }
    settle_failure(earlier.upstream, earlier.cause, std::move(earlier.said));
}

// Is there an answer, or nobody who may be asked again?
bool ReadOperation::has_ended() {
    if (!answer_ && !(opinion_.asks_by_number() && !ending_.retries_spent &&
                      may_pause_and_retry(services_.worker.clock.now()))) {
        answer_ = opinion_.last_resort();
    }
    return answer_ || ending_.retries_spent;
}

void ReadOperation::conclude() {
    if (!answer_) {
        answer_ = opinion_.last_resort();
    }
    if (!answer_) {
        answer_ = give_up(services_.worker.clock.now());
    }
    answer_->attempts = attempts_ - attempts_before_;
}

void ReadOperation::look_again() {
    later_ = chain_.pool.snapshots().get();
    snapshot_ = later_.get();
}

void ReadOperation::begin_round() {
    look_again();
    tried_ = refused_;
    limited_.reset();
    passing_failure_ = false;
}

upstream::Turn ReadOperation::turn_among_limited() const {
    return {.among = limited_,
            .traits = plan_.traits,
            .method = plan_.call->method,
            .share = share_of(plan_)};
}

// Another upstream at once was tried; now for those that only a limit keeps from serving.
runtime::Task<bool> ReadOperation::wait_for_turn() {
    limited_ &= ~refused_;
    const core::TimePoint now = services_.worker.clock.now();
    if (limited_.none() || attempts_ >= chain_.config.reads.max_attempts || now >= deadline_) {
        co_return false;
    }
    const upstream::Turn turn = turn_among_limited();
    turn_ = co_await patience_.wait(turn, ending_);
    co_return turn_.has_value();
}

void ReadOperation::on_client_gone() {
    cancel_others();
    if (pause_) {
        pause_->set();
    }
}

runtime::Task<> ReadOperation::run_attempts() {
    while (!answer_ && !client_.gone() && attempts_ < chain_.config.reads.max_attempts) {
        const core::TimePoint now = services_.worker.clock.now();
        if (now >= deadline_) {
            break;
        }
        const bool retry = is_retry();
        ending_.retries_spent = retry && !chain_.retries.has_one(now);
        if (ending_.retries_spent) {
            break;
        }
        std::optional<upstream::Granted> granted = admit(now);
        if (!granted) {
            break;
        }
        if (retry) {
            chain_.retries.take(now);
            retried_ = true;
        } else if (attempts_ == 0) {
            chain_.retries.note_calls(1, now);
        }
        const routing::UpstreamIndex upstream = granted->upstream;
        tried_.set(upstream);
        ++attempts_;
        Running running(*this, upstream);
        running.arm_for(now + chain_.config.timeouts.attempt, hedge_time(upstream, now));
        const AttemptOptions options{.upstream = upstream,
                                     .now = now,
                                     .deadline = deadline_,
                                     .connection = upstream::Connection::pooled,
                                     .long_replies = long_replies_,
                                     .cancellation = &running.cancellation,
                                     .params = opinion_.params(params_)};
        Judged judged = co_await send(options);
        if (judged.answer && judged.answer->kind() == Answer::Kind::long_result) {
            judged.answer->long_result().permit = std::move(granted->permit);
        }
        granted.reset();
        if (!answer_ && client_.gone() && running.cancellation.cancelled()) {
            continue;  // cut off for the client's own leaving: says nothing of the upstream
        }
        if (judged.unasked) {
            attempts_ -= judged.verdict.cause == Cause::block_unknown ? 1 : 0;
            settle_failure(upstream, judged.verdict.cause, std::nullopt);
            continue;
        }
        if (answer_) {
            settle_loser(running, std::move(judged));
        } else {
            settle(upstream, std::move(judged));
        }
    }
}

runtime::Task<Judged> ReadOperation::send(const AttemptOptions& options) {
    return plan_.pinned != nullptr ? send_pinned(services_, chain_, plan_, options)
                                   : send_call(services_, chain_, plan_, options);
}

// A further attempt because one failed or is late. Going on from a limit, or to somebody who has
// the state or the method, multiplies no outage.
bool ReadOperation::is_retry() const {
    return attempts_ > 0 &&
           (running_ != nullptr || (ending_.last_cause && is_passing(*ending_.last_cause)));
}

// The turn that was waited for, or a place at an upstream that has one.
std::optional<upstream::Granted> ReadOperation::admit(core::TimePoint now) {
    if (turn_) {
        return std::exchange(turn_, std::nullopt);
    }
    while (const std::optional<routing::UpstreamIndex> upstream = choose(now)) {
        tried_.set(*upstream);
        upstream::Admission admission =
            chain_.pool.admit(*upstream, {*plan_.traits, plan_.call->method}, now);
        if (admission.permit) {
            return upstream::Granted{*upstream, std::move(*admission.permit)};
        }
        if (admission.obstacle != upstream::Obstacle::unfit) {
            limited_.set(*upstream);
        } else {
            look_again();  // the picture was old
        }
        ending_.at_capacity =
            ending_.at_capacity || admission.obstacle == upstream::Obstacle::capacity;
    }
    return std::nullopt;
}

std::optional<routing::UpstreamIndex> ReadOperation::choose(core::TimePoint now) {
    if (only_) {
        return tried_.test(*only_) ? std::nullopt : only_;
    }
    routing::Need need{.method = plan_.call->method,
                       .traits = plan_.traits,
                       .patience = chain_.config.rate_limits.max_wait,
                       .block = opinion_.need(),
                       .served = opinion_.served(*snapshot_)};
    if (plan_.pinned != nullptr) {
        plan_.pinned->block.add_to(need);
    }
    const routing::Tried out =
        plan_.pinned != nullptr ? tried_ | plan_.pinned->block.lacking() : tried_;
    const auto picked =
        plan_.wants_pending ? write_upstream(chain_, *snapshot_, need, out, now)
        : plan_.preferred
            ? routing::select_kept(*snapshot_, need, out, *plan_.preferred, now)
            : routing::select(*snapshot_, need, out, now, services_.worker.random.next());
    if (const auto* upstream = std::get_if<routing::UpstreamIndex>(&picked)) {
        return *upstream;
    }
    limited_ |= ending_.nobody.emplace(std::get<routing::NoUpstream>(picked)).cooling;
    return std::nullopt;
}

void ReadOperation::settle(routing::UpstreamIndex upstream, Judged&& judged) {
    report_attempt(services_, chain_, plan_, upstream, judged);
    const Cause cause = judged.verdict.cause;
    ending_.no_room = judged.no_room;
    const bool unknown_block = cause == Cause::block_unknown && judged.answer &&
                               plan_.pinned == nullptr &&
                               opinion_.judge_unknown_block() == SecondOpinion::Opinion::give;
    if (judged.answer && (judged.verdict.disposition == Disposition::answer || unknown_block)) {
        if (opinion_.judge(upstream, *judged.answer, tried_, judged.at) ==
            SecondOpinion::Opinion::ask_another) {
            refuse(upstream);
            ending_.last_cause = Cause::unknown;
            return;
        }
        answer_ = std::move(judged.answer);
        answer_->upstream = upstream;
        // Perhaps arrays are what the upstream cannot take.
        if (attempts_before_ != 0 && std::exchange(retried_, false)) {
            chain_.retries.give_back();
        }
        cancel_others();
        return;
    }
    settle_failure(upstream, cause, std::move(judged.answer));
}

// Its answer is not the client's.
void ReadOperation::refuse(routing::UpstreamIndex upstream) {
    if (opinion_.asks_by_number()) {
        passing_failure_ = true;
    } else {
        refused_.set(upstream);
    }
}

void ReadOperation::settle_failure(routing::UpstreamIndex upstream, Cause cause,
                                   std::optional<Answer>&& said) {
    ending_.last_cause = cause;
    if (is_passing(cause) || may_yet_have_block(plan_, upstream, cause)) {
        passing_failure_ = true;
    } else if (cause == Cause::rate_limited) {
        limited_.set(upstream);
    } else {
        refused_.set(upstream);
    }
    const bool of_the_block = cause == Cause::block_unknown || cause == Cause::state_missing;
    if (said && said->kind() == Answer::Kind::rpc_error && !is_about_the_account(cause) &&
        !(plan_.pinned != nullptr && of_the_block)) {
        last_error_ = std::make_unique<Answer>(std::move(*said));
        last_error_->upstream = upstream;
    }
}

// Somebody else answered. Who was late by then has shown itself slow; others count neither way.
void ReadOperation::settle_loser(const Running& running, Judged&& judged) {
    if (running.late && running.cancellation.cancelled()) {
        judged.verdict = {.disposition = Disposition::try_another,
                          .blame = routing::Blame::upstream,
                          .cause = Cause::timeout,
                          .retry_after = std::nullopt};
        report_attempt(services_, chain_, plan_, running.upstream, judged);
    }
}

// When the call is asked elsewhere before its attempt is late; one hedge a call.
std::optional<core::TimePoint> ReadOperation::hedge_time(routing::UpstreamIndex upstream,
                                                         core::TimePoint now) const {
    using Kind = config::Hedge::Kind;
    const config::Hedge& hedge = chain_.config.reads.hedge;
    if (hedge.kind == Kind::off || hedged_ || only_ || plan_.wants_pending) {
        return std::nullopt;
    }
    const core::Duration delay =
        hedge.kind == Kind::after ? hedge.delay : snapshot_->upstreams[upstream].hedge_after;
    return delay > core::Duration::zero() && delay < chain_.config.timeouts.attempt
               ? std::optional(now + delay)
               : std::nullopt;
}

// Within the tier only: the next one is for when this one cannot serve.
void ReadOperation::hedge(routing::UpstreamIndex upstream) {
    look_again();
    const std::vector<routing::UpstreamView>& all = snapshot_->upstreams;
    for (routing::UpstreamIndex i = 0; i < all.size() && !hedged_; ++i) {
        hedged_ = !tried_.test(i) && all[i].tier == all[upstream].tier &&
                  all[i].state == routing::UpstreamState::fit && !all[i].apart;
    }
    if (hedged_) {
        start_another();
    }
}

void ReadOperation::start_another() {
    if (answer_ || client_.gone() || attempts_ >= chain_.config.reads.max_attempts) {
        return;
    }
    if (!beside_) {
        beside_ = std::make_unique<runtime::TaskGroup>(services_.worker.io);
    }
    look_again();
    beside_->spawn(run_attempts());
}

void ReadOperation::cancel_others() {
    for (Running* running = running_; running != nullptr; running = running->next) {
        running->cancellation.cancel();
    }
}

bool ReadOperation::may_pause_and_retry(core::TimePoint resume) const {
    return passing_failure_ && !client_.gone() && attempts_ < chain_.config.reads.max_attempts &&
           resume < deadline_;
}

Answer ReadOperation::give_up(core::TimePoint now) {
    ending_.out_of_time = now >= deadline_;
    if (!ending_.available_at && limited_.any()) {
        ending_.available_at = chain_.pool.outlook(turn_among_limited(), now).capacity_at;
    }
    Answer answer = last_error_ ? std::move(*last_error_)
                                : Answer::failed(error_of(ending_, chain_.config, now));
    answer.given_up = true;
    return answer;
}

}  // namespace weir::proxy
