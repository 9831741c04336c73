#include "proxy/broadcast_operation.hpp"

#include "chain/transaction_hash.hpp"
#include "core/hex.hpp"
#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/transaction_diary.hpp"
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

// Whose word that it does not know a transaction ends a search for it.
const routing::Tried kNobody;
const routing::Tried kAnybody = routing::Tried().set();

// A broadcast that waits for its block answers with a receipt, the others with the hash.
bool answers_with_receipt(const CallPlan& plan) {
    return plan.call->method == "eth_sendRawTransactionSync";
}

// What every step of one broadcast works with.
struct Broadcast {
    const RequestScope& scope;
    const CallPlan& plan;
    core::TimePoint deadline;
    TransactionDiary diary;
    unsigned attempts = 0;  // messages sent so far

    core::TimePoint now() const { return scope.services.worker.clock.now(); }
    const config::Chain& chain() const { return scope.chain.config; }
    const std::string& hash() const { return diary.hash(); }
};

Answer unknown_outcome(const Broadcast& own) {
    GatewayError error;
    error.type = ErrorType::broadcast_unknown;
    error.message = "the transaction " + own.hash() + " was sent once on chain " +
                    own.chain().name +
                    " and its outcome is unknown; do not sign again, look the hash up";
    error.extra_data = R"("transactionHash":")" + own.hash() + R"(","outcome":"unknown")";
    return Answer::failed(std::move(error));
}

runtime::Task<Lookup> ask_around(Broadcast& own, Question question) {
    question.payer = &own.plan;
    Lookup lookup = co_await look_up(own.scope.services, own.scope.chain, question);
    own.attempts += lookup.attempts;
    co_return lookup;
}

// Is the transaction known to anybody? Looked for within `reconcile_timeout`, or until one of
// `settled_by` says that it does not know it.
runtime::Task<Lookup> look_for(Broadcast& own, routing::Tried settled_by) {
    const Question question{
        .hash = own.hash(),
        .what = Question::For::transaction,
        .times = look_within(own.chain().writes.reconcile_timeout, own.now(), own.deadline),
        .settled_by = settled_by,
        .listener = &own.diary};
    return ask_around(own, question);
}

// The answer for a transaction that an upstream is known to have, under this hash.
runtime::Task<Answer> accepted(Broadcast& own, std::optional<routing::UpstreamIndex> upstream,
                               std::string hash) {
    if (!answers_with_receipt(own.plan)) {
        Answer answer = Answer::own_result('"' + hash + '"');
        answer.upstream = upstream;
        co_return answer;
    }
    const core::TimePoint now = own.now();
    const Question question{.hash = hash,
                            .what = Question::For::receipt,
                            .times = look_within(own.deadline - now, now, own.deadline),
                            .settled_by = {},
                            .listener = nullptr};
    Lookup receipt = co_await ask_around(own, question);
    if (receipt.found != Lookup::Found::yes) {
        co_return unknown_outcome(own);
    }
    Answer answer = Answer::own_result(std::move(receipt.value));
    answer.upstream = receipt.upstream;
    co_return answer;
}

// What a request gets whose bytes another one has sent.
runtime::Task<Answer> answer_of(Broadcast& own, WriteEnd end) {
    if (end.outcome == WriteOutcome::accepted) {
        std::string hash = own.hash();
        if (!end.other_hash.empty()) {
            hash = std::move(end.other_hash);
        }
        std::optional<routing::UpstreamIndex> upstream;
        if (end.upstream) {
            upstream = own.scope.chain.place_of(*end.upstream);
        }
        Answer answer = co_await accepted(own, upstream, std::move(hash));
        co_return answer;
    }
    if (!end.error.empty()) {
        Answer answer = Answer::copied_error(std::move(end.error));
        answer.upstream_failed = end.upstream_failed;
        co_return answer;
    }
    if (end.refusal) {
        co_return Answer::failed(*end.refusal);
    }
    co_return unknown_outcome(own);
}

runtime::Task<Answer> join(Broadcast& own) {
    own.diary.note("joined");
    // The other request may run on another thread, so it wakes this one through its event loop.
    const auto woken = std::make_shared<runtime::Event>(own.scope.services.worker.io);
    boost::asio::io_context& io = own.scope.services.worker.io;
    const auto wake = [woken, &io] { boost::asio::post(io, [woken] { woken->set(); }); };
    TransactionRecords& records = own.scope.records;
    std::optional<WriteEnd> end = records.end_of(own.diary.record(), wake);
    if (!end) {
        const bool in_time = co_await woken->wait_until(own.deadline);
        if (in_time) {
            end = records.end_of(own.diary.record(), wake);
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

// Does the node's own error say what became of the transaction, once it is known to be nowhere?
bool explains_refusal(Cause cause) {
    return cause == Cause::nonce_too_low || cause == Cause::underpriced;
}

// How a broadcast ends that an upstream has taken.
WriteEnd taken_by(std::optional<routing::UpstreamIndex> upstream) {
    WriteEnd end;
    end.outcome = WriteOutcome::accepted;
    end.upstream = upstream;
    return end;
}

// How one ends that was refused: by an upstream's error, or by the gateway's own.
// `unknown` where that leaves open whether the transaction was taken all the same.
WriteEnd refused_with(const Answer& answer, WriteOutcome outcome) {
    WriteEnd end;
    end.outcome = outcome;
    if (answer.kind() == Answer::Kind::rpc_error) {
        end.error = answer.json();
        end.upstream_failed = answer.upstream_failed;
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

runtime::Task<Answer> found_out(Broadcast& own, Lookup lookup) {
    own.diary.settle(taken_by(lookup.upstream));
    return accepted(own, lookup.upstream, own.hash());
}

// No usable answer came: the bytes may have arrived or not.
runtime::Task<Answer> reconcile(Broadcast& own) {
    Lookup lookup = co_await look_for(own, kNobody);
    if (lookup.found == Lookup::Found::yes) {
        Answer answer = co_await found_out(own, std::move(lookup));
        co_return answer;
    }
    own.diary.settle(nobody_knows());
    co_return unknown_outcome(own);
}

runtime::Task<Answer> judge_error(Broadcast& own, routing::UpstreamIndex upstream, Cause cause,
                                  Answer error) {
    if (cause == Cause::already_known) {
        own.diary.settle(taken_by(upstream));
        Answer answer = co_await accepted(own, upstream, own.hash());
        co_return answer;
    }
    if (cause == Cause::timeout) {  // the node gave up waiting, not trying
        Answer answer = co_await reconcile(own);
        co_return answer;
    }
    WriteOutcome outcome = WriteOutcome::rejected;
    if (is_ambiguous(cause)) {
        Lookup lookup = co_await look_for(own, routing::Tried().set(upstream));
        if (lookup.found == Lookup::Found::yes) {
            Answer answer = co_await found_out(own, std::move(lookup));
            co_return answer;
        }
        const bool explained = explains_refusal(cause) && lookup.found == Lookup::Found::no;
        outcome = explained ? WriteOutcome::rejected : WriteOutcome::unknown;
    }
    own.diary.settle(refused_with(error, outcome));
    co_return error;
}

// The transaction's hash as an upstream's result names it, by itself or in a receipt. Nothing: the
// result says nothing of a transaction.
std::optional<std::string> hash_in(std::string_view result) {
    const std::string_view place =
        jsonrpc::is_object(result) ? jsonrpc::member(result, "transactionHash") : result;
    const auto said = jsonrpc::plain_string(place);
    constexpr std::size_t kHashBytes = 32;
    if (!said || !core::is_hex_data(*said, kHashBytes)) {
        return std::nullopt;
    }
    return std::string(*said);
}

// An upstream has taken the transaction; the client gets that one's own words.
Answer took_it(Broadcast& own, routing::UpstreamIndex upstream, std::string said, Answer result) {
    WriteEnd end = taken_by(upstream);
    if (!core::iequals(said, own.hash())) {
        own.diary.note_other_hash(upstream, said);
        end.other_hash = std::move(said);
    }
    own.diary.settle(std::move(end));
    return result;
}

runtime::Task<Answer> judge_result(Broadcast& own, routing::UpstreamIndex upstream, Answer result) {
    std::optional<std::string> said = hash_in(result.json());
    if (said) {
        co_return took_it(own, upstream, std::move(*said), std::move(result));
    }
    own.diary.note("no_hash", upstream);
    Answer answer = co_await reconcile(own);
    co_return answer;
}

runtime::Task<Answer> send(Broadcast& own) {
    const core::Duration whole = own.deadline - own.scope.received;
    const core::Duration kept = std::min(own.chain().writes.reconcile_timeout, whole - whole / 4);
    const WriteRequest request{.plan = own.plan,
                               .params = own.plan.call->params,
                               .deadline = own.deadline - kept,
                               .only = std::nullopt,
                               .course = own.scope.course,
                               .client = own.scope.client,
                               .listener = &own.diary};
    SentOnce sent =
        co_await send_once(own.scope.services, own.scope.chain, own.scope.snapshot, request);
    own.attempts += sent.attempts;
    if (!sent.upstream) {
        if (sent.attempts == 0) {
            own.diary.note("not_sent");
        }
        own.diary.settle(refused_with(*sent.answer, WriteOutcome::rejected));
        co_return std::move(*sent.answer);
    }
    std::optional<Answer>& reply = sent.judged.answer;
    if (!reply) {
        Answer answer = co_await reconcile(own);
        co_return answer;
    }
    if (reply->kind() == Answer::Kind::result) {
        Answer answer = co_await judge_result(own, *sent.upstream, std::move(*reply));
        co_return answer;
    }
    Answer answer =
        co_await judge_error(own, *sent.upstream, sent.judged.verdict.cause, std::move(*reply));
    co_return answer;
}

// Accepted long ago, or nobody knew: sent again only where an upstream says that none has it.
runtime::Task<Answer> look_first(Broadcast& own) {
    own.diary.note("repeated");
    Lookup lookup = co_await look_for(own, kAnybody);
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
    own.diary.settle(nobody_knows());
    co_return unknown_outcome(own);
}

runtime::Task<Answer> run(Broadcast& own, TransactionRecords::Claim claim) {
    own.diary.open(std::move(claim.record));
    switch (claim.step) {
        case Step::join:
            return join(own);
        case Step::answer:
            return answer_of(own, std::move(claim.end));
        case Step::look_first:
            return look_first(own);
        case Step::send:
            break;
    }
    return send(own);
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
                                   .course = scope.course,
                                   .client = scope.client};
        Answer answer = co_await write_once(scope.services, scope.chain, scope.records,
                                            scope.snapshot, request);
        co_return answer;
    }
    TransactionRecords::Claim claim = scope.records.claim(
        scope.chain.identity.chain, *hash, *bytes, scope.chain.config.writes.record_ttl,
        scope.received, scope.services.worker.clock.now());
    Broadcast own{.scope = scope,
                  .plan = plan,
                  .deadline = deadline,
                  .diary = TransactionDiary(scope, std::move(*hash))};
    Answer answer = co_await run(own, std::move(claim));
    answer.attempts = own.attempts;
    co_return answer;
}

}  // namespace weir::proxy
