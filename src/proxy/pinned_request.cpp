#include "proxy/pinned_request.hpp"

#include "core/hex.hpp"
#include "proxy/batch_operation.hpp"
#include "proxy/block_survey.hpp"
#include "proxy/pinned_block.hpp"
#include "proxy/snapshot_record.hpp"
#include "runtime/task_group.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace weir::proxy {
namespace {

using routing::Access;
using routing::PinEffect;

// No call names it: what is bound to any block is bound to this one.
const chain::BlockId kNoBlock{std::numeric_limits<std::uint64_t>::max(), "none"};

// Says nothing of a block, or could mean the one that is yet to be found.
bool needs_the_block(const CallPlan& plan) {
    using routing::BlockParam;
    const BlockParam named = plan.traits->block_param;
    return !plan.refusal && plan.is_owed_an_item() && plan.access() == Access::read &&
           named != BlockParam::none && named != BlockParam::block_hash &&
           named != BlockParam::pending;
}

GatewayError no_place_for_the_block(const CallPlan& plan) {
    GatewayError error;
    error.type = ErrorType::invalid_request;
    error.message = "the params of " + std::string(plan.call->method) +
                    " leave no place for the block of a pinned request";
    return error;
}

GatewayError unclear_block(const CallPlan& plan) {
    GatewayError error;
    error.type = ErrorType::invalid_request;
    error.message = "the params of " + std::string(plan.call->method) +
                    " name a block in a way that nodes read differently; a pinned request takes "
                    "0x and a number or a hash, latest, safe, finalized, earliest and pending";
    return error;
}

// Nobody was left who has the block, in the words of a read of any block.
bool is_about_the_block(const Answer& answer) {
    return answer.kind() == Answer::Kind::gateway_error &&
           (answer.error().type == ErrorType::no_upstream ||
            answer.error().type == ErrorType::bad_upstream_reply ||
            answer.error().type == ErrorType::snapshot_unavailable);
}

class PinnedRequest {
  public:
    PinnedRequest(const RequestScope& scope, const ClientRequest& request, const PinWish& wish,
                  std::span<CallPlan> plans, runtime::Charge& held)
        : scope_(scope),
          request_(request),
          wish_(wish),
          plans_(plans),
          originals_(plans.begin(), plans.end()),
          held_(held) {
        answers_.resize(plans.size());
        effects_.resize(plans.size(), PinEffect::none);
        goes_beside_.resize(plans.size());
    }

    runtime::Task<PinnedAnswers> run() {
        bind_all();
        runtime::TaskGroup beside(scope_.services.worker.io);
        if (std::any_of(plans_.begin(), plans_.end(), needs_the_block)) {
            beside.spawn(run_places(take_others()));
            co_await find(Freshness::lately);
        }
        co_await run_reads();
        co_await beside.join();
        co_return finish();
    }

  private:
    runtime::Task<> run_reads() {
        co_await run_all();
        settle();
        if (is_to_begin_again()) {
            began_again_ = true;
            co_await find(Freshness::now);
            co_await run_bound();
            settle();
        }
        co_await run_optional();
        co_await tell_number();
    }

    // All calls of a request are one client's.
    const CallPlan& payer() const { return originals_.front(); }

    core::TimePoint deadline() const {
        return scope_.received + scope_.chain.config.timeouts.request;
    }

    // Of what is asked about the block while reads of it run.
    core::TimePoint last_deadline() const {
        const config::Timeouts& timeouts = scope_.chain.config.timeouts;
        const bool slow = std::any_of(plans_.begin(), plans_.end(), [](const CallPlan& plan) {
            return plan.traits->time_class == routing::TimeClass::slow;
        });
        return scope_.received + (slow ? timeouts.slow_request : timeouts.request);
    }

    runtime::Task<> find(Freshness freshness) {
        Found found = co_await find_block(scope_, payer(), wish_.block, freshness, deadline());
        messages_ += found.messages + (block_ ? block_->messages() : 0);
        calls_.clear();
        block_.reset();
        error_ = std::move(found.error);
        if (found.block) {
            block_ = std::make_unique<PinnedBlock>(scope_.services, scope_.chain, payer(),
                                                   std::move(*found.block), found.surveyed,
                                                   last_deadline());
            block_->look_up();
        }
        bind_all();
    }

    void bind_all() {
        const chain::BlockId& block = block_ ? block_->block() : kNoBlock;
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            CallPlan& plan = plans_[i];
            plan = originals_[i];
            if (plan.refusal || !plan.is_owed_an_item()) {
                continue;
            }
            effects_[i] = routing::pin_effect(*plan.traits, plan.call->params, block);
            bind(plan, effects_[i]);
        }
    }

    void bind(CallPlan& plan, PinEffect effect) {
        if (effect == PinEffect::none) {
            return;
        }
        if (effect == PinEffect::unplaceable) {
            plan.refusal = no_place_for_the_block(plan);
            return;
        }
        if (effect == PinEffect::unclear) {
            plan.refusal = unclear_block(plan);
            return;
        }
        plan.head_call = HeadCall::none;
        if (!block_) {
            return;  // told by tell_there_is_no_block()
        }
        if (effect == PinEffect::number) {
            if (is_true()) {
                plan.known = number();
            }
        } else {
            PinnedCall& bound = calls_.emplace_back(PinnedCall{.block = *block_});
            plan.pinned = &bound;
            if (plans_.size() > 1 && may_go_by_hash(plan)) {
                bound.params = routing::pinned_params(*plan.traits, plan.call->params,
                                                      block_->block(), routing::BlockForm::hash);
                bound.by_hash = *plan.call;
                bound.by_hash.method =
                    routing::pinned_method(*plan.traits, routing::BlockForm::hash);
                bound.by_hash.params = bound.params;
                plan.by_hash = &bound.by_hash;
            }
            plan.null_needs_head = false;
            plan.block = {.kind = routing::BlockNeed::Kind::number,
                          .number = block_->block().number,
                          .state = plan.traits->reads_state};
        }
    }

    // Of calls that could ride in an array.
    bool may_go_by_hash(const CallPlan& plan) const {
        return plan.traits->time_class == routing::TimeClass::fast &&
               routing::has_hash_form(*plan.traits, plan.call->params, block_->block());
    }

    // Number and hash of the reference belong together: upstreams said so, or nobody else did.
    bool is_true() const {
        return wish_.block.kind != chain::BlockRef::Kind::block || block_->is_seen();
    }
    std::optional<chain::BlockId> found_block() const {
        return block_ && is_true() ? std::optional(block_->block()) : std::nullopt;
    }
    std::string number() const { return '"' + core::to_quantity(block_->block().number) + '"'; }

    bool shows_the_block(std::size_t place) const {
        return effects_[place] == PinEffect::bound || effects_[place] == PinEffect::number;
    }

    // Its number is all that is asked for, and not sure yet.
    bool waits_for_number(std::size_t place) const {
        return block_ && effects_[place] == PinEffect::number && !plans_[place].known &&
               !plans_[place].refusal;
    }

    // What does not read, transactions above all, waits for no block: it goes beside.
    std::vector<std::size_t> take_others() {
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            if (plans_[i].is_owed_an_item() && plans_[i].access() != Access::read) {
                places.push_back(i);
                goes_beside_[i] = true;
            }
        }
        return places;
    }

    std::vector<std::size_t> all_places() const {
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            if (plans_[i].is_owed_an_item() && !waits_for_number(i) && !goes_beside_[i]) {
                places.push_back(i);
            }
        }
        return places;
    }

    std::vector<std::size_t> bound_places() const {
        std::vector<std::size_t> places = all_places();
        std::erase_if(places, [this](std::size_t place) { return !shows_the_block(place); });
        return places;
    }

    // Without a block, nothing that is bound to it is asked.
    bool is_without_block(std::size_t place) const { return !block_ && shows_the_block(place); }

    void tell_there_is_no_block(std::vector<std::size_t>& places) {
        std::erase_if(places, [this](std::size_t place) {
            if (!is_without_block(place)) {
                return false;
            }
            answers_[place].emplace(Answer::failed(*error_));
            return true;
        });
    }

    runtime::Task<> run_all() {
        std::vector<std::size_t> places = all_places();
        tell_there_is_no_block(places);
        co_await run_places(std::move(places));
    }

    runtime::Task<> run_bound() {
        std::vector<std::size_t> places = bound_places();
        tell_there_is_no_block(places);
        co_await run_places(std::move(places));
    }

    runtime::Task<> run_places(std::vector<std::size_t> places) {
        if (places.empty()) {
            co_return;
        }
        std::vector<CallPlan> plans;
        plans.reserve(places.size());
        for (const std::size_t place : places) {
            plans.push_back(plans_[place]);
        }
        if (plans_.size() == 1 && plans.size() == 1) {
            RequestScope scope = scope_;
            if (plans_[0].pinned != nullptr) {
                scope.long_replies = LongReplies::buffer;
            }
            Answer answer = co_await run_call(scope, plans_[0]);
            answers_[0].emplace(std::move(answer));
            co_return;
        }
        BatchResult result = co_await run_batch(scope_, plans, held_);
        messages_ += result.messages;
        for (std::size_t i = 0; i < places.size(); ++i) {
            answers_[places[i]] = std::move(result.answers[i]);
        }
    }

    // What nobody could serve of the block.
    void settle() {
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            if (effects_[i] != PinEffect::bound || !block_ || !answers_[i] ||
                !is_about_the_block(*answers_[i])) {
                continue;
            }
            const unsigned attempts = answers_[i]->attempts;
            answers_[i].emplace(Answer::failed(unavailable()));
            answers_[i]->attempts = attempts;
        }
    }

    GatewayError unavailable() const {
        const chain::BlockId& block = block_->block();
        return snapshot_unavailable(block.number, block.hash, block_->reason(),
                                    scope_.chain.config.name);
    }

    bool is_lost(std::size_t place) const {
        return effects_[place] == PinEffect::bound && answers_[place] &&
               answers_[place]->kind() == Answer::Kind::gateway_error &&
               answers_[place]->error().type == ErrorType::snapshot_unavailable;
    }

    bool is_optional(std::size_t place) const {
        return std::count(wish_.optional.begin(), wish_.optional.end(), place) != 0;
    }

    // The chain went on without the block, and the client did not ask for this one.
    bool is_to_begin_again() const {
        if (!block_ || wish_.block.kind != chain::BlockRef::Kind::latest || scope_.client.gone() ||
            (block_->reason() != Unavailable::reorganised &&
             block_->reason() != Unavailable::unknown)) {
            return false;
        }
        bool lost = false;
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            lost = lost || (is_lost(i) && !is_optional(i));
        }
        return lost;
    }

    // As they would be without a block.
    runtime::Task<> run_optional() {
        std::vector<std::size_t> places;
        for (const std::size_t place : wish_.optional) {
            if (effects_[place] == PinEffect::bound && (is_lost(place) || !block_)) {
                plans_[place] = originals_[place];
                places.push_back(place);
            }
        }
        if (places.empty()) {
            co_return;
        }
        at_latest_ = places;
        co_await run_places(std::move(places));
    }

    // The number of the client's reference is told once an upstream was seen to have the block.
    runtime::Task<> tell_number() {
        std::optional<GatewayError> error;
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            if (!waits_for_number(i)) {
                continue;
            }
            if (!is_true() && !error) {
                error = co_await ask_whether_true();
            }
            answers_[i].emplace(is_true() ? Answer::own_result(number()) : Answer::failed(*error));
        }
    }

    // By reading the block itself, as any read that is bound to it.
    runtime::Task<GatewayError> ask_whether_true() {
        const jsonrpc::Call call{
            .id = "0", .method = "eth_getBlockByNumber", .params = R"(["latest",false])"};
        PinnedCall bound{.block = *block_};
        CallPlan plan;
        plan.call = &call;
        plan.traits = &routing::find_method(call.method);
        plan.client = payer().client;
        plan.meter = payer().meter;
        plan.pinned = &bound;
        plan.block = {.kind = routing::BlockNeed::Kind::number, .number = block_->block().number};
        RequestScope scope = scope_;
        scope.long_replies = LongReplies::buffer;
        Answer answer = co_await run_call(scope, plan);
        messages_ += answer.attempts;
        const bool of_something_else =
            answer.kind() == Answer::Kind::gateway_error && !is_about_the_block(answer);
        co_return of_something_else ? answer.error() : unavailable();
    }

    // One record for all reads that were to show the block.
    void record() const {
        std::vector<ReadRecord> reads;
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            if (effects_[i] != PinEffect::bound) {
                continue;
            }
            ReadRecord& read = reads.emplace_back(ReadRecord{.call = plans_[i].call});
            read.answer = answers_[i] ? &*answers_[i] : nullptr;
            read.at_latest = std::find(at_latest_.begin(), at_latest_.end(), i) != at_latest_.end();
            if (const PinnedCall* const bound = plans_[i].pinned) {
                read.form = bound->form;
                read.time = bound->time;
                read.in_vain = bound->in_vain;
            }
        }
        write_record(scope_.services, scope_.chain,
                     {.request_id = request_.request_id,
                      .block = found_block(),
                      .began_again = began_again_,
                      .client_gone = scope_.client.gone(),
                      .reads = reads});
    }

    PinnedAnswers finish() {
        record();
        PinnedAnswers result;
        result.answers = std::move(answers_);
        if (const auto block = found_block()) {
            result.block = chain::to_reference(*block);
        }
        result.messages = messages_ + (block_ ? block_->messages() : 0);
        // What they point to ends with this.
        for (CallPlan& plan : plans_) {
            plan.pinned = nullptr;
            plan.by_hash = nullptr;
        }
        return result;
    }

    const RequestScope& scope_;
    const ClientRequest& request_;
    const PinWish& wish_;
    const std::span<CallPlan> plans_;
    const std::vector<CallPlan> originals_;
    runtime::Charge& held_;
    std::vector<PinEffect> effects_;
    std::vector<bool> goes_beside_;
    Answers answers_;
    std::unique_ptr<PinnedBlock> block_;
    std::optional<GatewayError> error_;  // why there is no block
    std::deque<PinnedCall> calls_;
    bool began_again_ = false;
    std::vector<std::size_t> at_latest_;  // optional ones that could not be had of the block
    unsigned messages_ = 0;
};

}  // namespace

runtime::Task<PinnedAnswers> run_pinned(const RequestScope& scope, const ClientRequest& request,
                                        const PinWish& wish, std::span<CallPlan> plans,
                                        runtime::Charge& held) {
    PinnedRequest operation(scope, request, wish, plans, held);
    PinnedAnswers answers = co_await operation.run();
    co_return answers;
}

}  // namespace weir::proxy
