#include "proxy/pinned_attempt.hpp"

#include "jsonrpc/value.hpp"
#include "proxy/block_question.hpp"
#include "routing/named_block.hpp"

#include <optional>
#include <string>

namespace weir::proxy {
namespace {

using routing::BlockForm;
using routing::Cause;

bool is_answer(const Judged& judged, Answer::Kind kind) {
    return judged.answer && judged.answer->kind() == kind;
}

// Said plainly that it does not take hashes; the rest could be a passing trouble.
routing::HashReads::Refusal refusal_of(Cause cause) {
    return cause == Cause::invalid_params || cause == Cause::method_unsupported ||
                   cause == Cause::plan_lacks_method
               ? routing::HashReads::Refusal::plain
               : routing::HashReads::Refusal::vague;
}

// An error that would be the same whichever block the call is of.
bool is_about_the_call(Cause cause) {
    return cause == Cause::invalid_params || cause == Cause::method_unsupported ||
           cause == Cause::plan_lacks_method;
}

routing::Named named_in(const CallPlan& plan, const Answer& answer) {
    return routing::named_block(*plan.traits, plan.call->params, answer.json(),
                                plan.pinned->block.block());
}

class PinnedAttempt {
  public:
    PinnedAttempt(Services& services, ChainContext& chain, const CallPlan& plan,
                  const AttemptOptions& options)
        : services_(services),
          chain_(chain),
          plan_(plan),
          options_(options),
          call_(*plan.pinned),
          pin_(plan.pinned->block),
          began_(services.worker.clock.now()) {}

    runtime::Task<Judged> run() {
        const Holding holding = co_await pin_.check(options_.upstream);
        if (holding != Holding::holds) {
            co_return unasked(holding);
        }
        const bool by_hash = co_await wants_hash();
        if (!by_hash) {
            Judged judged = co_await run_by_number();
            co_return judged;
        }
        Judged judged = co_await send(BlockForm::hash);
        reply_ = hash_reply(plan_, judged.verdict, judged.answer);
        refused_for_ = judged.verdict.cause;
        switch (reply_) {
            case HashReply::final:
                learn_served(judged);
                break;
            case HashReply::unknown_block:
                judged = co_await without_block(std::move(judged));
                break;
            case HashReply::other_block:
                learn_overlooked();
                [[fallthrough]];
            case HashReply::not_by_hash:
                ++call_.in_vain;
                pin_.note_message();
                judged = co_await run_by_number();
                break;
        }
        co_return judged;
    }

  private:
    runtime::Task<bool> wants_hash() {
        const routing::MethodTraits& traits = *plan_.traits;
        if (!routing::has_hash_form(traits, options_.params, pin_.block())) {
            co_return false;
        }
        const bool takes = co_await pin_.takes_hash(options_.upstream, traits);
        co_return takes;
    }

    runtime::Task<Judged> run_by_number() {
        const routing::UpstreamIndex upstream = options_.upstream;
        if (!may_be_sent(chain_, upstream, plan_.traits->name)) {
            co_return unasked(Cause::method_unsupported);
        }
        const Holding before = co_await pin_.check_since(upstream, pin_.begun());
        if (before != Holding::holds) {
            co_return unasked(before);
        }
        Judged judged = co_await send(BlockForm::number);
        if (!judged.answer || is_about_the_call(judged.verdict.cause)) {
            co_return judged;
        }
        const bool result = is_answer(judged, Answer::Kind::result);
        const bool lacks = result && (is_missing(*judged.answer) ||
                                      named_in(plan_, *judged.answer) == routing::Named::another);
        if (lacks || judged.verdict.cause == Cause::block_unknown) {
            judged = co_await without_block(std::move(judged));
            co_return judged;
        }
        const Holding after = co_await pin_.check_since(upstream, judged.at);
        if (after != Holding::holds) {
            co_return unasked(after);
        }
        if (result && reply_ == HashReply::not_by_hash) {
            learn_refused();
        }
        co_return judged;
    }

    // A block that is known to be there is not null.
    bool is_missing(const Answer& answer) const {
        return jsonrpc::is_null(answer.json()) && !plan_.traits->null_answers;
    }

    // Whoever answered does not have the block. Does the upstream? Where it is the only one it is
    // asked the same again first: of two nodes in turn, the question would always meet the one that
    // has the block.
    runtime::Task<Judged> without_block(Judged judged) {
        const routing::UpstreamIndex upstream = options_.upstream;
        if (chain_.config.upstreams.size() > 1 || call_.missed.test(upstream)) {
            const Holding holding = co_await pin_.check_since(upstream, judged.at);
            if (holding == Holding::holds && reply_ == HashReply::unknown_block) {
                learn_missed();
            }
        }
        pin_.note_unknown();
        (call_.missed.test(upstream) ? call_.missed_again : call_.missed).set(upstream);
        judged.answer.reset();
        judged.verdict = {.disposition = routing::Disposition::try_another,
                          .blame = routing::Blame::nobody,
                          .cause = Cause::block_unknown,
                          .retry_after = std::nullopt};
        co_return judged;
    }

    runtime::Task<Judged> send(BlockForm form) {
        const routing::MethodTraits& traits = *plan_.traits;
        const std::string params =
            routing::pinned_params(traits, options_.params, pin_.block(), form);
        jsonrpc::Call call = *plan_.call;
        call.method = routing::pinned_method(traits, form);
        call.params = params;
        CallPlan plan;
        plan.call = &call;
        plan.traits = &routing::find_method(call.method);
        AttemptOptions options = options_;
        options.params = params;
        options.now = services_.worker.clock.now();
        Judged judged = co_await send_call(services_, chain_, plan, options);
        call_.form = form;
        call_.time = judged.at - began_;
        if (judged.verdict.cause == Cause::state_missing) {
            pin_.note_pruned();
        }
        co_return judged;
    }

    Judged unasked(Holding holding) const {
        return unasked(holding == Holding::lacks ? Cause::block_unknown
                                                 : pin_.trouble(options_.upstream));
    }

    // Nothing came of it, and nothing more is to be told of the upstream.
    Judged unasked(Cause cause) const {
        Judged judged;
        judged.unasked = true;
        judged.verdict = {.disposition = routing::Disposition::try_another,
                          .blame = routing::Blame::nobody,
                          .cause = cause,
                          .retry_after = std::nullopt};
        judged.at = services_.worker.clock.now();
        return judged;
    }

    void learn_refused() {
        const auto note = [this](routing::HashReads& learned) {
            learned.refuse(options_.upstream, *plan_.traits, refusal_of(refused_for_),
                           services_.worker.clock.now());
        };
        chain_.snapshots.hash_reads(note);
    }

    void learn_overlooked() {
        const auto note = [this](routing::HashReads& learned) {
            const core::TimePoint now = services_.worker.clock.now();
            learned.note_trial(options_.upstream, *plan_.traits,
                               routing::HashReads::Trial::answered, now);
            learned.refuse(options_.upstream, *plan_.traits, routing::HashReads::Refusal::plain,
                           now);
        };
        chain_.snapshots.hash_reads(note);
    }

    void learn_missed() {
        const auto note = [this](routing::HashReads& learned) {
            learned.miss(options_.upstream, *plan_.traits, services_.worker.clock.now());
        };
        chain_.snapshots.hash_reads(note);
    }

    void learn_served(const Judged& judged) {
        if (is_answer(judged, Answer::Kind::result)) {
            const auto note = [this](routing::HashReads& learned) {
                learned.serve(options_.upstream, *plan_.traits);
            };
            chain_.snapshots.hash_reads(note);
        }
    }

    Services& services_;
    ChainContext& chain_;
    const CallPlan& plan_;
    const AttemptOptions& options_;
    PinnedCall& call_;
    PinnedBlock& pin_;
    const core::TimePoint began_;
    HashReply reply_ = HashReply::final;
    Cause refused_for_ = Cause::answered;  // by hash
};

}  // namespace

runtime::Task<bool> may_go_by_hash(const CallPlan& plan, routing::UpstreamIndex upstream) {
    PinnedBlock& block = plan.pinned->block;
    const Holding holding = co_await block.check(upstream);
    if (holding != Holding::holds) {
        co_return false;
    }
    const bool takes = co_await block.takes_hash(upstream, *plan.traits);
    co_return takes;
}

HashReply hash_reply(const CallPlan& plan, const routing::Verdict& verdict,
                     const std::optional<Answer>& answer) {
    if (!answer) {
        return HashReply::final;
    }
    const routing::MethodTraits& traits = *plan.traits;
    if (answer->kind() == Answer::Kind::result) {
        if (jsonrpc::is_null(answer->json())) {
            // What is served by number then names its block, or is null again.
            const bool by_number = traits.null_answers || traits.names != routing::Names::nothing;
            return by_number ? HashReply::not_by_hash : HashReply::unknown_block;
        }
        return named_in(plan, *answer) == routing::Named::another ? HashReply::other_block
                                                                  : HashReply::final;
    }
    if (verdict.cause == Cause::block_unknown) {
        return HashReply::unknown_block;
    }
    // Hashes in the place of a number have been tried; methods of their own have not.
    const bool of_its_own = traits.by_hash == routing::ByHash::method &&
                            (is_about_the_call(verdict.cause) || verdict.cause == Cause::unknown);
    return of_its_own ? HashReply::not_by_hash : HashReply::final;
}

runtime::Task<Judged> send_pinned(Services& services, ChainContext& chain, const CallPlan& plan,
                                  const AttemptOptions& options) {
    PinnedAttempt attempt(services, chain, plan, options);
    Judged judged = co_await attempt.run();
    co_return judged;
}

bool may_yet_have_block(const CallPlan& plan, routing::UpstreamIndex upstream, Cause cause) {
    return plan.pinned != nullptr && cause == Cause::block_unknown &&
           !plan.pinned->missed_again.test(upstream);
}

}  // namespace weir::proxy
