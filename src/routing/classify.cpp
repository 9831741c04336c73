#include "routing/classify.hpp"

#include "jsonrpc/value.hpp"
#include "routing/complaint.hpp"

#include <string>
#include <vector>

namespace weir::routing {
namespace {

// Where the news came from: an error object that answers the call, or anything less.
enum class Source { error_object, noise };

Verdict verdict_of(const MethodTraits& traits, Cause cause, Source source) {
    using enum Disposition;
    const bool repeatable = is_repeatable(traits.access);
    // An error object is something that the client can be given; noise is not.
    const Disposition settle = source == Source::error_object ? answer : give_up;
    switch (cause) {
        case Cause::answered:
            return {answer, Blame::nobody, cause, {}};
        case Cause::reverted:
        case Cause::invalid_params:
        case Cause::nonce_too_low:
        case Cause::already_known:
        case Cause::underpriced:
        case Cause::tx_rejected:
        case Cause::range_too_large:
        case Cause::response_too_large:
            return {settle, Blame::client, cause, {}};
        case Cause::unknown:
            return {settle, Blame::nobody, cause, {}};
        case Cause::rate_limited:
        case Cause::quota_exhausted:
            return {repeatable ? try_another : give_up, Blame::nobody, cause, {}};
        case Cause::auth_failed:
            return {repeatable ? try_another : settle, Blame::upstream, cause, {}};
        case Cause::method_unsupported:
        case Cause::plan_lacks_method: {
            // It proves that nothing was done; but a broadcast goes to one upstream only.
            const bool movable = repeatable || traits.access == Access::write;
            return {movable ? try_another : settle, Blame::nobody, cause, {}};
        }
        case Cause::state_missing:
        case Cause::block_unknown:
            return {repeatable ? try_another : settle, Blame::nobody, cause, {}};
        case Cause::batch_too_large:
            return {split_and_resend, Blame::nobody, cause, {}};
        case Cause::timeout:
        case Cause::connect_failed:
        case Cause::connection_lost:
        case Cause::bad_reply:
        case Cause::server_error:
            return {repeatable ? try_another : settle, Blame::upstream, cause, {}};
    }
    return {settle, Blame::nobody, Cause::unknown, {}};
}

// May this cause be believed from a body that does not answer the call? Only what speaks of the
// upstream itself; never an outcome of the call.
bool speaks_of_upstream(Cause cause) {
    switch (cause) {
        case Cause::rate_limited:
        case Cause::quota_exhausted:
        case Cause::auth_failed:
        case Cause::plan_lacks_method:
        case Cause::batch_too_large:
        case Cause::timeout:
        case Cause::server_error:
            return true;
        default:
            return false;
    }
}

bool is_page(std::string_view body) {
    const auto first = body.find_first_not_of(" \t\r\n");
    return first != body.npos && body[first] == '<';
}

bool is_redirect(int status) { return status >= 300 && status < 400; }

// One complaint, asked in the order that the rules' stages give.
class Inquiry {
  public:
    Inquiry(const Profile& profile, const CallSent& call, const HttpHead& head, int status)
        : profile_(profile), call_(call), head_(head), status_(status) {}

    std::optional<Cause> cause_of(const Complaint& complaint, Medium medium) const {
        const Evidence evidence = about(complaint, complaint.texts, status_, medium);
        const RuleSet::Look own(profile_.rules(), evidence);
        if (const auto cause = own.cause(Stage::revert, Stage::revert)) {
            return cause;
        }
        // From here on words tell more than codes do, wherever they stand.
        if (const auto cause = own.cause(Stage::pool, Stage::pool, RuleSet::Rules::with_wordings)) {
            return cause;
        }
        if (const auto cause = quoted_cause(complaint)) {
            return cause;
        }
        if (const auto cause =
                own.cause(Stage::range, Stage::auth, RuleSet::Rules::with_wordings)) {
            return cause;
        }
        if (const auto cause = nested_cause(complaint)) {
            return cause;
        }
        return own.cause(Stage::pool, Stage::trouble_status);
    }

  private:
    Evidence about(const Complaint& complaint, const std::vector<std::string>& texts, int status,
                   Medium medium) const {
        return {call_, head_, status, complaint.code, complaint.data, texts, medium};
    }

    // A node that quotes another one's reply speaks of that one: once, not of what that one quotes.
    std::optional<Cause> quoted_cause(const Complaint& complaint) const {
        const auto quoted =
            complaint.texts.empty() ? std::nullopt : quoted_reply(complaint.texts.front());
        if (!quoted || profile_.rules().is_brought(call_, complaint.texts.front().substr(0, 32))) {
            return std::nullopt;
        }
        const Complaint inner = read_stray_complaint(quoted->body);
        const Medium medium = is_page(quoted->body) ? Medium::page : Medium::json;
        const Evidence evidence = about(inner, inner.texts, quoted->status, medium);
        return RuleSet::Look(profile_.rules(), evidence)
            .cause(Stage::revert, Stage::trouble_status);
    }

    // What lies below tells more than what stands above it, which is often "method not found".
    std::optional<Cause> nested_cause(const Complaint& complaint) const {
        if (complaint.nested.empty()) {
            return std::nullopt;
        }
        const Complaint below;
        const Evidence evidence = about(below, complaint.nested, 200, Medium::json);
        return RuleSet::Look(profile_.rules(), evidence).cause(Stage::revert, Stage::trouble);
    }

    const Profile& profile_;
    const CallSent& call_;
    const HttpHead& head_;
    const int status_;
};

void add_wait(Verdict& verdict, const Profile& profile, const HttpHead& head,
              const Complaint& complaint) {
    if (verdict.cause == Cause::rate_limited || verdict.cause == Cause::quota_exhausted) {
        verdict.retry_after = find_wait(profile.waits(), head, complaint);
    }
}

// In a batch the calls may still be answered one by one.
void judge_size(Verdict& verdict, const CallSent& call) {
    if (verdict.cause == Cause::response_too_large && call.message == Message::batch) {
        verdict.disposition = Disposition::split_and_resend;
        verdict.blame = Blame::nobody;
    }
}

Verdict judge_noise(const Profile& profile, const CallSent& call, const HttpReply& reply) {
    const bool page = is_page(reply.body);
    const Complaint complaint = read_stray_complaint(reply.body);
    const Medium medium = page                       ? Medium::page
                          : complaint.object.empty() ? Medium::plain
                                                     : Medium::json;
    const Inquiry inquiry(profile, call, reply.head, reply.head.status);
    std::optional<Cause> cause = inquiry.cause_of(complaint, medium);
    if (cause && !speaks_of_upstream(*cause)) {
        cause = inquiry.cause_of(Complaint(), medium);  // what the status says by itself
    }
    Verdict verdict = verdict_of(call.traits, cause.value_or(Cause::bad_reply), Source::noise);
    if (reply.head.status == 413 && verdict.cause == Cause::bad_reply) {
        verdict.blame = Blame::client;  // the request was too long for this upstream
    }
    add_wait(verdict, profile, reply.head, complaint);
    return verdict;
}

Verdict judge_error_reply(const Profile& profile, const CallSent& call, const HttpReply& reply) {
    const Complaint complaint = read_complaint(reply.reply->error, reply.body);
    const Inquiry inquiry(profile, call, reply.head, reply.head.status);
    const std::optional<Cause> cause = inquiry.cause_of(complaint, Medium::json);
    if (!jsonrpc::is_object(reply.reply->error) && (!cause || complaint.texts.empty())) {
        return judge_noise(profile, call, reply);  // no error object, and no word that says more
    }
    Verdict verdict = verdict_of(call.traits, cause.value_or(Cause::unknown), Source::error_object);
    judge_size(verdict, call);
    add_wait(verdict, profile, reply.head, complaint);
    return verdict;
}

}  // namespace

Verdict classify(const CallSent& call, const TransportFailure& failure) {
    Verdict verdict = verdict_of(call.traits, failure.cause, Source::noise);
    if (failure.sent == TransportFailure::Sent::nothing) {
        verdict.disposition = Disposition::try_another;  // even a write: it never left
    }
    if (failure.origin != TransportFailure::Origin::upstream) {
        verdict.blame = Blame::nobody;
    }
    return verdict;
}

Verdict classify(const Profile& profile, const CallSent& call, const HttpReply& reply) {
    if (reply.reply && !reply.reply->is_error() && !is_redirect(reply.head.status)) {
        return verdict_of(call.traits, Cause::answered, Source::error_object);  // never scanned
    }
    if (is_redirect(reply.head.status)) {
        return verdict_of(call.traits, Cause::bad_reply, Source::noise);  // whatever its body says
    }
    return reply.reply ? judge_error_reply(profile, call, reply)
                       : judge_noise(profile, call, reply);
}

Verdict classify(const Profile& profile, const CallSent& call, const AttemptOutcome& outcome) {
    const auto* const failure = std::get_if<TransportFailure>(&outcome);
    return failure != nullptr ? classify(call, *failure)
                              : classify(profile, call, std::get<HttpReply>(outcome));
}

}  // namespace weir::routing
