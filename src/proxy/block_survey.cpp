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
        co_return std::move(found_);
    }

  private:
    using Pool = std::shared_ptr<const routing::RoutingSnapshot>;

    core::TimePoint now() const { return scope_.services.worker.clock.now(); }
    Pool pool() const { return scope_.chain.pool.snapshots().get(); }

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
        found_.messages += survey.messages();
        std::vector<Claim> claims;
        for (const auto& [upstream, seen] : survey.seen()) {
            scope_.chain.pool.observe_head(upstream, seen);
            claims.push_back(claim_of(upstream, seen));
        }
        // Who did not answer in time has what it had.
        const Pool later = pool();
        std::erase_if(claims, [&](const Claim& claim) {
            return !is_fit(later->upstreams[claim.upstream], now());
        });
        for (UpstreamIndex i = 0; i < later->upstreams.size(); ++i) {
            const routing::UpstreamView& upstream = later->upstreams[i];
            const bool spoke = std::any_of(claims.begin(), claims.end(),
                                           [i](const Claim& claim) { return claim.upstream == i; });
            if (!spoke && is_fit(upstream, now()) && upstream.head &&
                !upstream.head->hash.empty()) {
                claims.push_back({i, *upstream.head, upstream.head_parent});
            }
        }
        PinnedFloor& floor = scope_.chain.snapshots.floor;
        const std::optional<chain::BlockId> before = floor.block(later->fall_backs);
        found_.block = chain::choose_block(claims, before ? before->number : 0);
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

    // Near the head, what most have at that height; deep below it, what anybody has.
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
        routing::Tried whom;
        for (UpstreamIndex i = 0; i < known->upstreams.size(); ++i) {
            const routing::UpstreamView& upstream = known->upstreams[i];
            whom.set(i, is_fit(upstream, now()) &&
                            (!upstream.reach || upstream.reach->number >= number));
        }
        co_await choose_among(question, whom);
        if (!found_.block && !settled) {
            co_await ask_once_more(question, whom);
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
        co_await choose_among(question, whom);
        if (!found_.block) {
            co_await ask_once_more(question, whom);
        }
    }

    // Those who were asked may have it in a moment, or another of a cluster's nodes.
    runtime::Task<> ask_once_more(BlockQuestion question, routing::Tried asked) {
        const core::TimePoint again = now() + kPause;
        if (asked.any() && again < deadline_) {
            co_await runtime::sleep_until(scope_.services.worker.io, again);
        }
        co_await ask_somebody(std::move(question));
    }

    runtime::Task<> choose_among(const BlockQuestion& question, routing::Tried whom) {
        Survey survey(scope_, payer_, question, deadline_);
        co_await survey.ask(whom);
        found_.messages += survey.messages();
        std::vector<Claim> claims;
        for (const auto& [upstream, seen] : survey.seen()) {
            claims.push_back(claim_of(upstream, seen));
        }
        found_.block = chain::choose_block(claims, 0);
        if (found_.block) {
            found_.error.reset();
        }
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
