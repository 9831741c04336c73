#include "proxy/pinned_attempt.hpp"

#include "jsonrpc/value.hpp"
#include "proxy/block_question.hpp"

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
        const bool by_hash = co_await wants_hash();
        if (by_hash) {
            const Holding holding = co_await pin_.check(options_.upstream);
            if (holding != Holding::holds) {
                co_return unasked(holding);
            }
            Judged judged = co_await send(BlockForm::hash);
            if (!is_doubtful(judged.verdict, judged.answer)) {
                learn_served(judged);
                co_return judged;
            }
            doubt_ = judged.verdict.cause;
            ++call_.in_vain;
            pin_.note_message();
        }
        Judged judged = co_await run_by_number();
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
        const Holding before = co_await pin_.check_since(upstream, pin_.begun());
        if (before != Holding::holds) {
            co_return unasked(before);
        }
        Judged judged = co_await send(BlockForm::number);
        if (!judged.answer) {
            co_return judged;
        }
        const Holding after = co_await pin_.check_since(upstream, judged.at);
        if (after != Holding::holds) {
            co_return unasked(after);
        }
        if (doubt_ && is_answer(judged, Answer::Kind::result)) {
            learn_refused();
        }
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
        } else if (judged.verdict.cause == Cause::block_unknown) {
            pin_.note_unknown();
        }
        co_return judged;
    }

    // Nothing came of it, and nothing more is to be told of the upstream.
    Judged unasked(Holding holding) const {
        Judged judged;
        judged.unasked = true;
        judged.verdict = {.disposition = routing::Disposition::try_another,
                          .blame = routing::Blame::nobody,
                          .cause = holding == Holding::lacks ? Cause::block_unknown
                                                             : pin_.trouble(options_.upstream),
                          .retry_after = std::nullopt};
        judged.at = services_.worker.clock.now();
        return judged;
    }

    void learn_refused() {
        const auto note = [this](routing::HashReads& learned) {
            learned.refuse(options_.upstream, *plan_.traits, refusal_of(*doubt_),
                           services_.worker.clock.now());
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
    std::optional<Cause> doubt_;  // what it said to the hash
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

bool is_doubtful(const routing::Verdict& verdict, const std::optional<Answer>& answer) {
    if (!answer) {
        return false;
    }
    if (answer->kind() != Answer::Kind::rpc_error) {
        return answer->kind() == Answer::Kind::result && jsonrpc::is_null(answer->json());
    }
    switch (verdict.cause) {
        case Cause::invalid_params:
        case Cause::method_unsupported:
        case Cause::plan_lacks_method:
        case Cause::block_unknown:
        case Cause::server_error:
        case Cause::unknown:
            return true;
        default:
            return false;
    }
}

runtime::Task<Judged> send_pinned(Services& services, ChainContext& chain, const CallPlan& plan,
                                  const AttemptOptions& options) {
    PinnedAttempt attempt(services, chain, plan, options);
    Judged judged = co_await attempt.run();
    co_return judged;
}

}  // namespace weir::proxy
