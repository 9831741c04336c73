#include "proxy/block_survey.hpp"

#include "proxy/block_question.hpp"
#include "proxy/pinned_block.hpp"
#include "proxy/read_operation.hpp"
#include "runtime/event.hpp"
#include "runtime/task_group.hpp"
#include "upstream/probe.hpp"

#include <algorithm>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace weir::proxy {
namespace {

using chain::BlockRef;
using chain::Claim;
using routing::UpstreamIndex;

// Once one has answered, the others get so long.
constexpr core::Duration kGrace = std::chrono::milliseconds(150);

// Before one that does not know of a block is asked for it once more.
constexpr core::Duration kPause = std::chrono::milliseconds(50);

// What an upstream said of its head is taken for its head for a quarter of the block time.
constexpr core::Duration kShortestBelief = std::chrono::milliseconds(250);
constexpr core::Duration kLongestBelief = std::chrono::seconds(3);

// Blocks so far below the head are the same everywhere.
constexpr std::uint64_t kSettledDepth = 64;

// It is there, and says that it cannot say.
bool is_answer(routing::Cause cause) {
    return cause == routing::Cause::unknown || cause == routing::Cause::invalid_params ||
           cause == routing::Cause::state_missing || cause == routing::Cause::range_too_large;
}

bool is_fit(const routing::UpstreamView& upstream, core::TimePoint now) {
    using enum routing::UpstreamState;
    return upstream.identified && (upstream.state == fit || (upstream.state == cooling_down &&
                                                             upstream.available_at <= now));
}

std::string_view tag_of(BlockRef::Kind kind) {
    switch (kind) {
        case BlockRef::Kind::safe:
            return "safe";
        case BlockRef::Kind::finalized:
            return "finalized";
        default:
            return "latest";
    }
}

Claim claim_of(UpstreamIndex upstream, const chain::Observation& seen) {
    return {upstream, seen.latest, seen.parent_hash};
}

// Asks several upstreams the same, side by side.
class Survey {
  public:
    Survey(const RequestScope& scope, const CallPlan& payer, const BlockQuestion& question,
           core::TimePoint deadline)
        : scope_(scope),
          payer_(payer),
          question_(question),
          deadline_(std::min(
              deadline, scope.services.worker.clock.now() + scope.chain.config.timeouts.attempt)),
          answered_(scope.services.worker.io),
          tasks_(scope.services.worker.io) {}

    runtime::Task<> ask(routing::Tried whom) {
        unasked_ = whom.count();
        silent_ = whom;
        for (UpstreamIndex i = 0; i < scope_.chain.config.upstreams.size(); ++i) {
            if (whom.test(i)) {
                tasks_.spawn(ask_one(i, cancellations_.emplace_back()));
            }
        }
        bool all = unasked_ == 0;
        if (!all) {
            const bool some = co_await answered_.wait_until(deadline_);
            all = unasked_ == 0;
            if (some && !all) {
                answered_.reset();
                wants_all_ = true;
                const core::TimePoint until =
                    std::min(deadline_, scope_.services.worker.clock.now() + kGrace);
                all = co_await answered_.wait_until(until);
            }
        }
        for (upstream::Cancellation& cancellation : cancellations_) {
            cancellation.cancel();
        }
        co_await tasks_.join();
    }

    const std::vector<std::pair<UpstreamIndex, chain::Observation>>& seen() const { return seen_; }
    // Of those that were asked: who has no such block, and who did not answer (in time).
    const routing::Tried& lacking() const { return lacking_; }
    const routing::Tried& silent() const { return silent_; }
    unsigned messages() const { return messages_; }

  private:
    runtime::Task<> ask_one(UpstreamIndex upstream, upstream::Cancellation& cancellation) {
        const core::TimePoint now = scope_.services.worker.clock.now();
        upstream::Admission admission =
            scope_.chain.pool.admit(upstream, routing::find_method(question_.method), now);
        if (admission.permit) {
            ++messages_;
            const BlockWord word =
                co_await ask_for_block(scope_.services, scope_.chain, upstream, question_, payer_,
                                       deadline_, &cancellation);
            if (word.kind == BlockWord::Kind::block) {
                seen_.emplace_back(upstream, word.block);
                silent_.reset(upstream);
            } else if (word.kind == BlockWord::Kind::none || is_answer(word.cause)) {
                lacking_.set(upstream);
                silent_.reset(upstream);
            }
        }
        --unasked_;
        if (unasked_ == 0 || (!wants_all_ && !seen_.empty())) {
            answered_.set();
        }
    }

    const RequestScope& scope_;
    const CallPlan& payer_;
    const BlockQuestion& question_;
    const core::TimePoint deadline_;
    std::size_t unasked_ = 0;
    bool wants_all_ = false;
    std::vector<std::pair<UpstreamIndex, chain::Observation>> seen_;
    routing::Tried lacking_;
    routing::Tried silent_;
    unsigned messages_ = 0;
    runtime::Event answered_;
    std::list<upstream::Cancellation> cancellations_;
    runtime::TaskGroup tasks_;
};

class Search {
  public:
    Search(const RequestScope& scope, const CallPlan& payer, const BlockRef& wanted,
           core::TimePoint deadline)
        : scope_(scope), payer_(payer), wanted_(wanted), deadline_(deadline) {}

    runtime::Task<Found> run(Freshness freshness) {
        switch (wanted_.kind) {
            case BlockRef::Kind::block:
                found_.block = wanted_.block;
                break;
            case BlockRef::Kind::latest:
                co_await find_latest(freshness);
                break;
            case BlockRef::Kind::safe:
            case BlockRef::Kind::finalized:
                co_await find_tagged();
                break;
            case BlockRef::Kind::number:
                co_await find_number();
                break;
            case BlockRef::Kind::hash:
                co_await find_hash();
                break;
        }
        judge_holders();
        co_return std::move(found_);
    }

  private:
    using Pool = std::shared_ptr<const routing::RoutingSnapshot>;

    core::TimePoint now() const { return scope_.services.worker.clock.now(); }
    Pool pool() const { return scope_.chain.pool.snapshots().get(); }

    // Who is known not to have the block that was found, and who let the others answer alone.
    void judge_holders() {
        routing::Tried spoke = lacking_;
        for (const Claim& claim : claims_) {
            spoke.set(claim.upstream);
            if (found_.block && chain::holds(claim, *found_.block) == chain::Holds::no) {
                lacking_.set(claim.upstream);
            }
        }
        found_.surveyed = {.lacking = lacking_,
                           .late = routing::outdone(*pool(), spoke & ~silent_, silent_)};
    }

    runtime::Task<> find_latest(Freshness freshness) {
        const Pool known = pool();
        const core::Duration belief =
            freshness == Freshness::now || known->upstreams.size() == 1
                ? core::Duration::zero()
                : std::clamp<core::Duration>(known->block_time / 4, kShortestBelief,
                                             kLongestBelief);
        routing::Tried stale;
        for (UpstreamIndex i = 0; i < known->upstreams.size(); ++i) {
            const routing::UpstreamView& upstream = known->upstreams[i];
            stale.set(i,
                      is_fit(upstream, now()) && (!upstream.head || upstream.head->hash.empty() ||
                                                  now() - upstream.head_at >= belief));
        }
        const BlockQuestion question = BlockQuestion::by_tag("latest");
        Survey survey(scope_, payer_, question, deadline_);
        co_await survey.ask(stale);
        take(survey);
        for (const auto& [upstream, seen] : survey.seen()) {
            scope_.chain.pool.observe_head(upstream, seen);
        }
        // Who did not answer in time has what it had.
        const Pool later = pool();
        std::erase_if(claims_, [&](const Claim& claim) {
            return !is_fit(later->upstreams[claim.upstream], now());
        });
        for (UpstreamIndex i = 0; i < later->upstreams.size(); ++i) {
            const routing::UpstreamView& upstream = later->upstreams[i];
            const bool spoke = std::any_of(claims_.begin(), claims_.end(),
                                           [i](const Claim& claim) { return claim.upstream == i; });
            if (!spoke && is_fit(upstream, now()) && upstream.head &&
                !upstream.head->hash.empty()) {
                claims_.push_back({i, *upstream.head, upstream.head_parent});
            }
        }
        PinnedFloor& floor = scope_.chain.snapshots.floor;
        const std::optional<chain::BlockId> before = floor.block(later->fall_backs);
        found_.block = chain::choose_block(claims_, before ? before->number : 0);
        if (!found_.block) {
            co_await ask_somebody(question);
        }
        if (found_.block && before && found_.block->number < before->number) {
            found_.block = before;  // whoever had it may show it again
        }
        if (found_.block && !later->provisional) {
            floor.raise(*found_.block, later->fall_backs);
            scope_.chain.floor.raise(found_.block->number, later->fall_backs);
        }
    }

    // As is believed of all of them; with one upstream, or before that is known, as it is told.
    runtime::Task<> find_tagged() {
        const Pool known = pool();
        const auto& tagged =
            wanted_.kind == BlockRef::Kind::safe ? known->settled.safe : known->settled.finalized;
        if (tagged && !tagged->block.hash.empty() && known->upstreams.size() > 1) {
            found_.block = tagged->block;
            co_return;
        }
        co_await ask_somebody(BlockQuestion::by_tag(tag_of(wanted_.kind)));
    }

    void take(const Survey& survey) {
        found_.messages += survey.messages();
        lacking_ |= survey.lacking();
        silent_ |= survey.silent();
        for (const auto& [upstream, seen] : survey.seen()) {
            claims_.push_back(claim_of(upstream, seen));
        }
    }

    // Near the head, what most have at that height; deep below it, what anybody has. Those that
    // were not seen to have got so far may have by now: they are asked before nobody has it.
    runtime::Task<> find_number() {
        const std::uint64_t number = wanted_.block.number;
        const BlockQuestion question = BlockQuestion::by_number(number);
        const Pool known = pool();
        const bool settled = known->head && known->head->number >= number + kSettledDepth;
        if (settled) {
            co_await ask_somebody(question);
            if (found_.block || !is_unknown_) {
                co_return;
            }
        }
        routing::Tried likely;
        routing::Tried others;
        for (UpstreamIndex i = 0; i < known->upstreams.size(); ++i) {
            const routing::UpstreamView& upstream = known->upstreams[i];
            const bool has_it = !upstream.reach || upstream.reach->number >= number;
            (has_it ? likely : others).set(i, is_fit(upstream, now()));
        }
        co_await survey(question, likely);
        if (claims_.empty()) {
            co_await survey(question, others);
        }
        found_.block = chain::choose_block(claims_, 0);
        if (found_.block) {
            found_.error.reset();
            note_holders();
        } else if (!settled) {
            co_await ask_once_more(question);
        }
    }

    void note_holders() {
        const Pool known = pool();
        const std::uint64_t head = known->head ? known->head->number : 0;
        for (const Claim& claim : claims_) {
            if (claim.block == *found_.block) {
                scope_.chain.snapshots.note_held(claim.upstream, claim.block,
                                                 head - std::min(head, claim.block.number), now());
            }
        }
    }

    runtime::Task<> find_hash() {
        const BlockQuestion question = BlockQuestion::by_hash(wanted_.block.hash);
        const Pool known = pool();
        routing::Tried whom;
        for (UpstreamIndex i = 0; i < known->upstreams.size(); ++i) {
            whom.set(i, is_fit(known->upstreams[i], now()) &&
                            may_be_sent(scope_.chain, i, question.method));
        }
        co_await survey(question, whom);
        found_.block = chain::agreed_block(claims_);
        if (!found_.block && !claims_.empty()) {
            fail(Unavailable::unknown);  // a false number is as likely as the true one
        } else if (!found_.block) {
            co_await ask_once_more(question);
        }
    }

    // Those who were asked may have it in a moment, or another of a cluster's nodes.
    runtime::Task<> ask_once_more(BlockQuestion question) {
        const core::TimePoint again = now() + kPause;
        if ((lacking_ | silent_).any() && again < deadline_) {
            co_await runtime::sleep_until(scope_.services.worker.io, again);
        }
        is_unknown_ = false;
        co_await ask_somebody(std::move(question));
        if (is_unknown_ && silent_.any()) {
            fail(Unavailable::no_upstream);  // one that did not answer may have it
        }
    }

    runtime::Task<> survey(const BlockQuestion& question, routing::Tried whom) {
        Survey survey(scope_, payer_, question, deadline_);
        co_await survey.ask(whom);
        take(survey);
    }

    // As a client's read goes: with failover, turns and all.
    runtime::Task<> ask_somebody(BlockQuestion question) {
        const jsonrpc::Call call{.id = "0", .method = question.method, .params = question.params};
        CallPlan plan;
        plan.call = &call;
        plan.traits = &routing::find_method(call.method);
        plan.client = payer_.client;
        plan.meter = payer_.meter;
        plan.block = routing::block_need(*plan.traits, call);
        const Pool known = pool();
        Answer answer = co_await ReadOperation::run(scope_.services, scope_.chain, known, plan,
                                                    call.params, deadline_, LongReplies::buffer,
                                                    scope_.client, std::nullopt);
        found_.messages += answer.attempts;
        if (answer.kind() == Answer::Kind::gateway_error) {
            keep(answer.error());
            co_return;
        }
        const auto seen = answer.kind() == Answer::Kind::result
                              ? upstream::read_block(answer.json())
                              : std::nullopt;
        if (seen && question.is_about(seen->latest)) {
            found_.block = seen->latest;
        } else {
            is_unknown_ = true;
            fail(Unavailable::unknown);
        }
    }

    // A limit or the end of time is what it is; with nobody to ask there is no block.
    void keep(const GatewayError& error) {
        if (error.type == ErrorType::no_upstream || error.type == ErrorType::bad_upstream_reply) {
            fail(Unavailable::no_upstream);
        } else {
            found_.error = error;
        }
    }

    void fail(Unavailable reason) {
        const bool by_number = wanted_.kind == BlockRef::Kind::number;
        found_.error =
            snapshot_unavailable(by_number ? std::optional(wanted_.block.number) : std::nullopt,
                                 wanted_.block.hash, reason, scope_.chain.config.name);
    }

    const RequestScope& scope_;
    const CallPlan& payer_;
    const BlockRef& wanted_;
    const core::TimePoint deadline_;
    Found found_;
    std::vector<Claim> claims_;
    routing::Tried lacking_;
    routing::Tried silent_;
    bool is_unknown_ = false;  // as somebody said
};

}  // namespace

runtime::Task<Found> find_block(const RequestScope& scope, const CallPlan& payer,
                                const BlockRef& wanted, Freshness freshness,
                                core::TimePoint deadline) {
    Search search(scope, payer, wanted, deadline);
    Found found = co_await search.run(freshness);
    co_return found;
}

}  // namespace weir::proxy
