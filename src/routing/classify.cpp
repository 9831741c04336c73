#include "routing/classify.hpp"

#include "jsonrpc/value.hpp"
#include "routing/error_rules.hpp"
#include "routing/retry_after.hpp"

#include <string>

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

// What a status says when nothing in the body does.
std::optional<Cause> cause_of_status(int status) {
    switch (status) {
        case 401:
        case 403:
            return Cause::auth_failed;
        case 402:
            return Cause::quota_exhausted;
        case 429:
            return Cause::rate_limited;
        case 408:
        case 504:
        case 522:
        case 524:
            return Cause::timeout;
        default:
            return status >= 500 ? std::optional(Cause::server_error) : std::nullopt;
    }
}

// The error within a body that is no reply to the call: an envelope with a foreign id, an array of
// one, a bare `{code, message}`, an error that is a string.
jsonrpc::ErrorObject stray_error(std::string_view body) {
    if (jsonrpc::is_array(body)) {
        body = jsonrpc::element(body, 0);
    }
    if (!jsonrpc::is_object(body)) {
        return {};
    }
    const std::string_view error = jsonrpc::member(body, "error");
    if (auto text = jsonrpc::string_value(error)) {
        return {std::nullopt, std::move(*text), {}};
    }
    return jsonrpc::read_error(jsonrpc::is_object(error) ? error : body);
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

bool is_html(std::string_view body) {
    const auto first = body.find_first_not_of(" \t\r\n");
    return first != body.npos && body[first] == '<';
}

bool is_redirect(int status) { return status >= 300 && status < 400; }

void add_wait(Verdict& verdict, const HttpHead& head, const jsonrpc::ErrorObject& error) {
    if (verdict.cause != Cause::rate_limited && verdict.cause != Cause::quota_exhausted) {
        return;
    }
    verdict.retry_after = parse_retry_after(head.retry_after, head.date);
    if (!verdict.retry_after) {
        verdict.retry_after = wait_in_error(error);
    }
}

Verdict judge_error_reply(const MethodTraits& traits, const HttpReply& reply) {
    const jsonrpc::ErrorObject error = jsonrpc::read_error(reply.reply->error);
    std::optional<Cause> cause = cause_of_error(traits, error);
    if (!cause) {
        cause = cause_of_status(reply.head.status);
    }
    Verdict verdict = verdict_of(traits, cause.value_or(Cause::unknown), Source::error_object);
    add_wait(verdict, reply.head, error);
    return verdict;
}

constexpr std::size_t kLongestStray = 64 * 1024;  // nobody complains at greater length

Verdict judge_noise(const MethodTraits& traits, const HttpReply& reply) {
    jsonrpc::ErrorObject error;
    std::optional<Cause> cause;
    if (!is_html(reply.body)) {
        if (reply.body.size() <= kLongestStray && jsonrpc::is_valid(reply.body)) {
            error = stray_error(reply.body);
            cause = cause_of_error(traits, error);
        } else {
            cause = cause_of_text(reply.body);
        }
    }
    if (cause && !speaks_of_upstream(*cause)) {
        cause.reset();
    }
    if (!cause) {
        cause = cause_of_status(reply.head.status);
    }
    Verdict verdict = verdict_of(traits, cause.value_or(Cause::bad_reply), Source::noise);
    if (reply.head.status == 413 && verdict.cause == Cause::bad_reply) {
        verdict.blame = Blame::client;  // the request was too long for this upstream
    }
    add_wait(verdict, reply.head, error);
    return verdict;
}

}  // namespace

Verdict classify(const MethodTraits& traits, const AttemptOutcome& outcome) {
    if (const auto* failure = std::get_if<TransportFailure>(&outcome)) {
        Verdict verdict = verdict_of(traits, failure->cause, Source::noise);
        if (failure->sent == TransportFailure::Sent::nothing) {
            verdict.disposition = Disposition::try_another;  // even a write: it never left
        }
        if (failure->origin == TransportFailure::Origin::gateway) {
            verdict.blame = Blame::nobody;
        }
        return verdict;
    }
    const auto& reply = std::get<HttpReply>(outcome);
    if (is_redirect(reply.head.status)) {
        return verdict_of(traits, Cause::bad_reply, Source::noise);  // whatever its body says
    }
    if (!reply.reply) {
        return judge_noise(traits, reply);
    }
    if (!reply.reply->is_error()) {
        return verdict_of(traits, Cause::answered, Source::error_object);  // never scanned
    }
    return judge_error_reply(traits, reply);
}

}  // namespace weir::routing
