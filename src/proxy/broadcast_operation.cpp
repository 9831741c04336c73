#include "proxy/broadcast_operation.hpp"

#include "chain/transaction_hash.hpp"
#include "core/hex.hpp"
#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/transaction_lookup.hpp"
#include "proxy/write_operation.hpp"
#include "runtime/event.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace weir::proxy {
namespace {

using routing::Cause;
using Step = TransactionRecords::Step;
using Ticket = TransactionRecords::Ticket;

// A broadcast that waits for its block answers with a receipt, the others with the hash.
bool answers_with_receipt(const CallPlan& plan) {
    return plan.call->method == "eth_sendRawTransactionSync";
}

// What every step of one broadcast works with.
struct Broadcast {
    const RequestScope& scope;
    const CallPlan& plan;
    core::TimePoint deadline;
    std::string hash;
    Ticket record;

    core::TimePoint now() const { return scope.services.worker.clock.now(); }
    const config::Chain& chain() const { return scope.chain.config; }

    std::string name_of(std::optional<routing::UpstreamIndex> upstream) const {
        return upstream ? chain().upstreams[*upstream].name : std::string();
    }
    void note(std::string_view event, std::optional<routing::UpstreamIndex> upstream,
              std::optional<Cause> cause = std::nullopt) const {
        scope.records.note(record, {.at = scope.services.worker.clock.wall_now(),
                                    .upstream = name_of(upstream),
                                    .event = event,
                                    .cause = cause});
    }
    void settle(WriteEnd end) const;
};

void Broadcast::settle(WriteEnd end) const {
    const std::string_view outcome = to_string(end.outcome);
    note(outcome, end.upstream);
    scope.services.metrics.write(scope.chain.index, outcome);
    scope.services.log.write(config::LogLevel::info, "broadcast",
                             {{"chain", chain().name},
                              {"transaction", hash},
                              {"outcome", outcome},
                              {"upstream", name_of(end.upstream)}});
    scope.records.settle(record, std::move(end), now());
}

Answer unknown_outcome(const Broadcast& own) {
    GatewayError error;
    error.type = ErrorType::broadcast_unknown;
    error.message = "the transaction " + own.hash + " was sent once on chain " + own.chain().name +
                    " and its outcome is unknown; do not sign again, look the hash up";
    error.extra_data = R"("transactionHash":")" + own.hash + R"(","outcome":"unknown")";
    return Answer::failed(std::move(error));
}

// The answer for a transaction that an upstream is known to have.
runtime::Task<Answer> accepted(const Broadcast& own,
                               std::optional<routing::UpstreamIndex> upstream) {
    if (!answers_with_receipt(own.plan)) {
        Answer answer = Answer::own_result('"' + own.hash + '"');
        answer.upstream = upstream;
        co_return answer;
    }
    Lookup receipt = co_await look_up_until(own.scope.services, own.scope.chain, own.hash,
                                            LookFor::receipt, own.deadline);
    if (receipt.found != Lookup::Found::yes) {
        co_return unknown_outcome(own);
    }
    Answer answer = Answer::own_result(std::move(receipt.value));
    answer.upstream = receipt.upstream;
    co_return answer;
}

// How a broadcast that this one joined has ended.
runtime::Task<Answer> answer_of(const Broadcast& own, WriteEnd end) {
    if (end.outcome == WriteOutcome::accepted) {
        Answer answer = co_await accepted(own, end.upstream);
        co_return answer;
    }
    if (!end.error.empty()) {
        co_return Answer::copied_error(std::move(end.error));
    }
    if (end.refusal) {
        co_return Answer::failed(*end.refusal);
    }
    co_return unknown_outcome(own);
}

runtime::Task<Answer> join(const Broadcast& own) {
    own.note("joined", std::nullopt);
    // The other request may run on another thread, so it wakes this one through its event loop.
    const auto woken = std::make_shared<runtime::Event>(own.scope.services.worker.io);
    boost::asio::io_context& io = own.scope.services.worker.io;
    const auto wake = [woken, &io] { boost::asio::post(io, [woken] { woken->set(); }); };
    std::optional<WriteEnd> end = own.scope.records.end_of(own.record, wake);
    if (!end) {
        const bool in_time = co_await woken->wait_until(own.deadline);
        if (in_time) {
            end = own.scope.records.end_of(own.record, wake);
        }
    }
    if (!end) {
        co_return unknown_outcome(own);
    }
    Answer answer = co_await answer_of(own, std::move(*end));
    co_return answer;
}

// Is the outcome open although an upstream answered with an error of its own?
bool is_ambiguous(Cause cause) {
    switch (cause) {
        case Cause::tx_rejected:
        case Cause::invalid_params:
        case Cause::reverted:
        case Cause::method_unsupported:
        case Cause::plan_lacks_method:
            return false;
        default:
            return true;
    }
}

// How a broadcast ends that an upstream has taken.
WriteEnd taken_by(std::optional<routing::UpstreamIndex> upstream) {
    WriteEnd end;
    end.outcome = WriteOutcome::accepted;
    end.upstream = upstream;
    return end;
}

// How one ends that was refused: by an upstream's error, or by the gateway's own.
WriteEnd refused_with(const Answer& answer) {
    WriteEnd end;
    end.outcome = WriteOutcome::rejected;
    if (answer.kind() == Answer::Kind::rpc_error) {
        end.error = answer.json();
    } else {
        end.refusal = answer.error();
    }
    return end;
}

WriteEnd nobody_knows() {
    WriteEnd end;
    end.outcome = WriteOutcome::unknown;
    return end;
}

runtime::Task<Answer> found_out(const Broadcast& own, Lookup lookup) {
    own.note("looked_up", lookup.upstream);
    own.settle(taken_by(lookup.upstream));
    Answer answer = co_await accepted(own, lookup.upstream);
    co_return answer;
}

// No usable answer came: the bytes may have arrived or not.
runtime::Task<Answer> reconcile(const Broadcast& own) {
    const core::TimePoint until =
        std::min(own.deadline, own.now() + own.chain().writes.reconcile_timeout);
    Lookup lookup = co_await look_up_until(own.scope.services, own.scope.chain, own.hash,
                                           LookFor::transaction, until);
    if (lookup.found == Lookup::Found::yes) {
        Answer answer = co_await found_out(own, std::move(lookup));
        co_return answer;
    }
    own.settle(nobody_knows());
    co_return unknown_outcome(own);
}

runtime::Task<Answer> judge_error(const Broadcast& own, routing::UpstreamIndex upstream,
                                  Cause cause, Answer error) {
    if (cause == Cause::already_known) {
        own.settle(taken_by(upstream));
        Answer answer = co_await accepted(own, upstream);
        co_return answer;
    }
    if (cause == Cause::timeout) {  // the node gave up waiting, not trying
        Answer answer = co_await reconcile(own);
        co_return answer;
    }
    if (is_ambiguous(cause)) {
        Lookup lookup = co_await look_up(own.scope.services, own.scope.chain, own.hash,
                                         LookFor::transaction, own.deadline);
        if (lookup.found == Lookup::Found::yes) {
            Answer answer = co_await found_out(own, std::move(lookup));
            co_return answer;
        }
    }
    own.settle(refused_with(error));
    co_return error;
}

// An upstream's result: normally the hash; its own words in any case.
Answer took_it(const Broadcast& own, routing::UpstreamIndex upstream, Answer result) {
    const auto said = jsonrpc::plain_string(result.json());
    if (said && !core::iequals(*said, own.hash)) {
        own.note("other_hash", upstream);
        own.scope.chain.pool.note({.kind = chain::DisagreementKind::transaction_hash,
                                   .upstream = upstream,
                                   .block = {.number = 0, .hash = core::to_lower(*said)},
                                   .other = std::nullopt,
                                   .other_hash = own.hash,
                                   .detail = "it names another hash than the transaction's",
                                   .at = own.scope.services.worker.clock.now()});
    }
    own.settle(taken_by(upstream));
    return result;
}

runtime::Task<Answer> send(const Broadcast& own) {
    const core::Duration whole = own.deadline - own.scope.received;
    const core::Duration kept = std::min(own.chain().writes.reconcile_timeout, whole - whole / 4);
    const WriteRequest request{.plan = own.plan,
                               .params = own.plan.call->params,
                               .deadline = own.deadline - kept,
                               .only = std::nullopt,
                               .client = own.scope.client};
    own.note("sent", std::nullopt);
    SentOnce sent =
        co_await send_once(own.scope.services, own.scope.chain, own.scope.snapshot, request);
    if (!sent.upstream) {
        own.settle(refused_with(*sent.answer));
        sent.answer->attempts = sent.attempts;
        co_return std::move(*sent.answer);
    }
    const Cause cause = sent.judged.verdict.cause;
    own.note("answered", sent.upstream, cause);
    std::optional<Answer> answer;
    if (!sent.judged.answer) {
        answer = co_await reconcile(own);
    } else if (sent.judged.answer->kind() == Answer::Kind::result) {
        answer = took_it(own, *sent.upstream, std::move(*sent.judged.answer));
    } else {
        answer = co_await judge_error(own, *sent.upstream, cause, std::move(*sent.judged.answer));
    }
    answer->attempts = sent.attempts;
    co_return std::move(*answer);
}

// Accepted long ago, or nobody knew: sent again only where an upstream says that none has it.
runtime::Task<Answer> look_first(const Broadcast& own) {
    own.note("repeated", std::nullopt);
    Lookup lookup = co_await look_up(own.scope.services, own.scope.chain, own.hash,
                                     LookFor::transaction, own.deadline);
    switch (lookup.found) {
        case Lookup::Found::yes: {
            Answer answer = co_await found_out(own, std::move(lookup));
            co_return answer;
        }
        case Lookup::Found::no: {
            Answer answer = co_await send(own);
            co_return answer;
        }
        case Lookup::Found::no_answer:
            break;
    }
    own.settle(nobody_knows());
    co_return unknown_outcome(own);
}

}  // namespace

runtime::Task<Answer> broadcast(const RequestScope& scope, const CallPlan& plan,
                                core::TimePoint deadline) {
    const auto text = jsonrpc::string_value(jsonrpc::element(plan.call->params, 0));
    const std::optional<std::string> bytes = text ? core::decode_data(*text) : std::nullopt;
    std::optional<std::string> hash = bytes ? chain::transaction_hash(*bytes) : std::nullopt;
    if (!hash) {  // no transaction: sent once all the same, for the node's own error
        const WriteRequest request{.plan = plan,
                                   .params = plan.call->params,
                                   .deadline = deadline,
                                   .only = std::nullopt,
                                   .client = scope.client};
        Answer answer = co_await write_once(scope.services, scope.chain, scope.snapshot, request);
        co_return answer;
    }
    Broadcast own{.scope = scope,
                  .plan = plan,
                  .deadline = deadline,
                  .hash = std::move(*hash),
                  .record = nullptr};
    TransactionRecords::Claim claim = scope.records.claim(scope.chain.index, own.hash, *bytes,
                                                          own.chain().writes.record_ttl, own.now());
    own.record = std::move(claim.record);
    switch (claim.step) {
        case Step::join: {
            Answer answer = co_await join(own);
            co_return answer;
        }
        case Step::answer: {
            Answer answer =
                co_await accepted(own, scope.records.holder(scope.chain.index, own.hash));
            co_return answer;
        }
        case Step::look_first: {
            Answer answer = co_await look_first(own);
            co_return answer;
        }
        case Step::send:
            break;
    }
    Answer answer = co_await send(own);
    co_return answer;
}

}  // namespace weir::proxy
