#include "proxy/transaction_diary.hpp"

#include "core/text.hpp"

#include <utility>

namespace weir::proxy {
namespace {

using routing::Cause;

bool is_turned_away(Cause cause) {
    return cause == Cause::rate_limited || cause == Cause::quota_exhausted ||
           cause == Cause::auth_failed;
}

std::string_view name_of(const Judged& judged) {
    if (!judged.answer && judged.sent == routing::TransportFailure::Sent::nothing) {
        return "not_sent";
    }
    if (is_turned_away(judged.verdict.cause)) {
        return "turned_away";
    }
    return judged.answer ? "answered" : "no_answer";
}

std::string_view name_of(Heard heard) {
    switch (heard) {
        case Heard::found:
            return "looked_up";
        case Heard::not_found:
            return "not_found";
        case Heard::nothing:
            break;
    }
    return "lookup_failed";
}

}  // namespace

std::string TransactionDiary::name_of(std::optional<routing::UpstreamIndex> upstream) const {
    return upstream ? scope_.chain.config.upstreams[*upstream].name : std::string();
}

void TransactionDiary::note(std::string_view event, std::optional<routing::UpstreamIndex> upstream,
                            std::optional<Cause> cause) {
    scope_.records.note(record_, {.at = scope_.services.worker.clock.wall_now(),
                                  .upstream = name_of(upstream),
                                  .event = event,
                                  .cause = cause});
}

void TransactionDiary::settle(WriteEnd end) {
    const std::string_view outcome = to_string(end.outcome);
    note(outcome, end.upstream);
    scope_.chain.meter.write(outcome);
    scope_.services.log.write(config::LogLevel::info, "broadcast",
                              {{"chain", scope_.chain.config.name},
                               {"transaction", hash_},
                               {"outcome", outcome},
                               {"upstream", name_of(end.upstream)}});
    if (end.upstream) {
        end.upstream = scope_.chain.id_of(*end.upstream);
    }
    scope_.records.settle(record_, std::move(end), scope_.services.worker.clock.now());
}

void TransactionDiary::note_other_hash(routing::UpstreamIndex upstream, std::string_view said) {
    note("other_hash", upstream);
    scope_.chain.pool.note({.kind = chain::DisagreementKind::transaction_hash,
                            .upstream = upstream,
                            .block = {.number = 0, .hash = core::to_lower(said)},
                            .other = std::nullopt,
                            .other_hash = hash_,
                            .detail = "it names another hash than the transaction's",
                            .at = scope_.services.worker.clock.now()});
}

void TransactionDiary::on_send(routing::UpstreamIndex upstream) { note("sent", upstream); }

void TransactionDiary::on_outcome(routing::UpstreamIndex upstream, const Judged& judged) {
    note(proxy::name_of(judged), upstream, judged.verdict.cause);
}

void TransactionDiary::on_look(routing::UpstreamIndex upstream, Heard heard, Cause cause) {
    note(proxy::name_of(heard), upstream, cause);
}

}  // namespace weir::proxy
