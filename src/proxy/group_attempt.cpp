#include "proxy/group_attempt.hpp"

#include "jsonrpc/write.hpp"
#include "proxy/attempt.hpp"
#include "proxy/batch_reply.hpp"
#include "proxy/pinned_attempt.hpp"
#include "proxy/second_opinion.hpp"
#include "routing/batch_limit.hpp"
#include "routing/classify.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace weir::proxy {
namespace {

using routing::AttemptOutcome;
using routing::Cause;
using routing::Disposition;
using routing::HttpReply;
using routing::TransportFailure;
using routing::Verdict;

constexpr std::size_t kCallHead = 64;  // of a call, without the method's name

// The array as it goes out, its calls numbered from `first_id` on.
std::string array_of(const Group& group, std::uint64_t first_id) {
    std::string text;
    text.reserve(size_of(group));
    for (const std::size_t place : group.places) {
        const jsonrpc::Call& call = group.plans[place].in_array();
        text += text.empty() ? '[' : ',';
        jsonrpc::append_call_head(
            text, first_id++, call.method,
            call.params.empty() ? jsonrpc::Params::none : jsonrpc::Params::follow);
        text += call.params;
        text += '}';
    }
    text += ']';
    return text;
}

// About the gateway's account there: not the client's to see, and the same for every call.
bool is_limit(Cause cause) {
    return cause == Cause::rate_limited || cause == Cause::quota_exhausted;
}

// May arrays be what it cannot take, where no words say so?
bool may_be_about_arrays(Cause cause) {
    return cause == Cause::connection_lost || cause == Cause::bad_reply ||
           cause == Cause::timeout || cause == Cause::server_error || cause == Cause::unknown;
}

class Judgement {
  public:
    Judgement(Services& services, ChainContext& chain, Group& group, Answers& answers,
              core::TimePoint begun)
        : services_(services),
          chain_(chain),
          group_(group),
          answers_(answers),
          begun_(begun),
          now_(services.worker.clock.now()) {}

    void judge_failure(const TransportFailure& failure) {
        settle_whole(classify(group_.places.front(), AttemptOutcome(failure)), {});
    }

    // Others answered before.
    void judge_late() {
        settle_whole({.disposition = Disposition::try_another,
                      .blame = routing::Blame::upstream,
                      .cause = Cause::timeout,
                      .retry_after = {}},
                     {});
    }

    void judge_reply(upstream::TransportReply&& reply, std::uint64_t first_id) {
        reply.head.clock = own_clock(services_, chain_);
        const auto body = std::make_shared<const runtime::Buffer>(std::move(reply.body));
        BatchReply read = read_batch_reply(body->bytes(), first_id, group_.places.size());
        const bool redirected = reply.head.status >= 300 && reply.head.status < 400;
        if (!read.any || redirected) {
            judge_whole(std::move(reply.head), read.whole, body->bytes());
            return;
        }
        AttemptOutcome scratch(HttpReply{.head = std::move(reply.head), .reply = {}, .body = {}});
        for (std::size_t i = 0; i < group_.places.size(); ++i) {
            if (!read.items[i]) {
                missing_.push_back(group_.places[i]);
            } else if (!read.items[i]->reply->is_error()) {
                judge_result(group_.places[i], Answer::shared(Answer::Kind::result,
                                                              read.items[i]->reply->result, body));
            } else {
                judge_error(group_.places[i], *read.items[i], body, scratch);
            }
        }
        settle_items();
    }

    void report(core::TimePoint begin) {
        const core::TimePoint at = now_;
        const core::Duration latency = at - begin;
        if (end_) {
            chain_.pool.report_batch(
                group_.upstream,
                {.end = *end_, .calls = group_.places.size(), .named = named_, .at = at});
        }
        const CallPlan& first = group_.plans[group_.places.front()];
        Judged judged;
        judged.verdict = verdict_;
        judged.at = at;
        judged.latency = latency;
        judged.answers = answered_;
        judged.detail = "an array of " + std::to_string(group_.places.size()) + " calls";
        report_attempt(services_, chain_, first, group_.upstream, judged);
        std::uint64_t units = 0;
        for (const std::size_t place : std::span(group_.places).subspan(1)) {
            units += chain_.pool.units_of(
                group_.upstream, {*group_.plans[place].traits, group_.plans[place].call->method});
        }
        count_units(chain_, first, group_.upstream, units);
        for (const auto& [place, verdict] : refusals_) {
            report_item(place, verdict, at, latency);
        }
    }

    Unanswered take() { return std::move(unanswered_); }

  private:
    Verdict classify(std::size_t place, const AttemptOutcome& outcome) const {
        const CallPlan& plan = group_.plans[place];
        const routing::CallSent call{.method = plan.in_array().method,
                                     .traits = *plan.traits,
                                     .params = plan.in_array().params,
                                     .message = routing::Message::batch};
        return routing::classify(*chain_.profiles[group_.upstream], call, outcome);
    }

    // Does it have to be asked alone, to see whose trouble the block is?
    bool is_doubted(std::size_t place, const Verdict& verdict, const std::optional<Answer>& said) {
        const CallPlan& plan = group_.plans[place];
        if (plan.pinned == nullptr) {
            return false;
        }
        if (verdict.cause == Cause::state_missing) {
            plan.pinned->block.note_pruned();
        }
        return hash_reply(plan, verdict, said) != HashReply::final;
    }

    void judge_result(std::size_t place, Answer&& result) {
        std::optional<Answer> said(std::move(result));
        if (is_doubted(place, {}, said)) {
            ++answered_;
            unanswered_.alone.push_back(place);
            return;
        }
        SecondOpinion opinion(chain_, group_.plans[place], services_.worker.clock);
        routing::Tried asked;
        asked.set(group_.upstream);
        if (opinion.judge(group_.upstream, *said, asked, now_) ==
            SecondOpinion::Opinion::ask_another) {
            ++answered_;
            lose(place, Cause::answered, opinion.last_resort());
            return;
        }
        give(place, std::move(*said));
    }

    // The first answer counts.
    void give(std::size_t place, Answer answer) {
        ++answered_;
        if (!answers_[place]) {
            answers_[place].emplace(std::move(answer));
            answers_[place]->upstream = group_.upstream;
            if (PinnedCall* const pinned = group_.plans[place].pinned) {
                pinned->form = routing::BlockForm::hash;
                pinned->time = now_ - begun_;
            }
        }
    }

    void lose(std::size_t place, Cause cause, std::optional<Answer> said) {
        unanswered_.lost.push_back(
            {place, {.upstream = group_.upstream, .cause = cause, .said = std::move(said)}});
    }

    void judge_error(std::size_t place, const jsonrpc::ArrayItem& item,
                     const std::shared_ptr<const runtime::Buffer>& body, AttemptOutcome& scratch) {
        auto& http = std::get<HttpReply>(scratch);
        http.reply = item.reply;
        http.body = item.raw;
        const Verdict verdict = classify(place, scratch);
        if (verdict.cause == Cause::unknown) {
            observe(services_, chain_, group_.upstream, http);
        }
        std::optional<Answer> said;
        if (is_for_clients(*item.reply, verdict)) {
            std::optional<Answer> redacted = redacted_error(services_.secrets, item.reply->error);
            said = redacted ? std::move(redacted)
                            : Answer::shared(Answer::Kind::rpc_error, item.reply->error, body);
            said->upstream_failed = verdict.blame == routing::Blame::upstream;
        }
        if (is_doubted(place, verdict, said)) {
            unanswered_.alone.push_back(place);
        } else if (verdict.disposition == Disposition::answer && said) {
            give(place, std::move(*said));
        } else if (verdict.cause == Cause::batch_too_large) {
            note_named(item.reply->error);
            unanswered_.too_many.push_back(place);
        } else if (verdict.disposition == Disposition::split_and_resend) {
            unanswered_.alone.push_back(place);
        } else {
            note_refusal(place, verdict);
            lose(place, verdict.cause, std::move(said));
        }
    }

    // What the upstream says of itself counts once for an array; what it says of a method, for
    // each call.
    void note_refusal(std::size_t place, const Verdict& verdict) {
        const bool of_method =
            verdict.cause == Cause::method_unsupported || verdict.cause == Cause::plan_lacks_method;
        const bool known = std::any_of(refusals_.begin(), refusals_.end(), [&](const auto& each) {
            return each.second.cause == verdict.cause;
        });
        if (of_method || !known) {
            refusals_.emplace_back(place, verdict);
        }
    }

    void note_named(std::string_view error) {
        const jsonrpc::ErrorObject read = jsonrpc::read_error(error);
        const std::string text = read.message + ' ' + std::string(read.data);
        named_ = routing::named_batch_limit(text, group_.places.size());
    }

    void settle_items() {
        using End = upstream::BatchReport::End;
        if (!unanswered_.too_many.empty()) {
            // Whoever was left out was left out for the same reason.
            unanswered_.too_many.insert(unanswered_.too_many.end(), missing_.begin(),
                                        missing_.end());
            std::sort(unanswered_.too_many.begin(), unanswered_.too_many.end());
            end_ = End::refused;
            verdict_ = {.disposition = Disposition::split_and_resend,
                        .blame = routing::Blame::nobody,
                        .cause = Cause::batch_too_large,
                        .retry_after = {}};
            return;
        }
        for (const std::size_t place : missing_) {
            lose(place, Cause::bad_reply, {});
        }
        const std::size_t came = group_.places.size() - missing_.size();
        if (came != 0 && !missing_.empty() && missing_.front() == group_.places[came]) {
            end_ = End::cut;
            named_ = came;
        } else if (answered_ != 0) {
            end_ = End::taken;
        }
        if (!missing_.empty()) {
            verdict_ = {.disposition = Disposition::try_another,
                        .blame = routing::Blame::upstream,
                        .cause = Cause::bad_reply,
                        .retry_after = {}};
        } else if (answered_ == 0 && !refusals_.empty()) {
            verdict_ = refusals_.front().second;
            refusals_.erase(refusals_.begin());
        }
    }

    void judge_whole(routing::HttpHead head, const std::optional<jsonrpc::Reply>& whole,
                     std::string_view body) {
        const AttemptOutcome outcome(
            HttpReply{.head = std::move(head), .reply = whole, .body = body});
        Verdict verdict = classify(group_.places.front(), outcome);
        if (verdict.cause == Cause::unknown || verdict.cause == Cause::bad_reply) {
            observe(services_, chain_, group_.upstream, std::get<HttpReply>(outcome));
        }
        if (verdict.blame != routing::Blame::upstream && !is_limit(verdict.cause) &&
            verdict.cause != Cause::batch_too_large) {
            // It speaks of an array, not of the call that happens to be the first.
            verdict = {.disposition = Disposition::try_another,
                       .blame = routing::Blame::nobody,
                       .cause = Cause::unknown,
                       .retry_after = {}};
        }
        settle_whole(verdict, whole ? whole->error : body.substr(0, kLongestRefusal));
    }

    void settle_whole(const Verdict& verdict, std::string_view text) {
        using End = upstream::BatchReport::End;
        verdict_ = verdict;
        if (verdict.cause == Cause::batch_too_large) {
            note_named(text);
            end_ = End::refused;
            unanswered_.too_many = group_.places;
            return;
        }
        if (verdict.cause == Cause::response_too_large) {
            unanswered_.alone = group_.places;
            return;
        }
        if (may_be_about_arrays(verdict.cause)) {
            end_ = End::lost;
        }
        // What is said of an array and cannot be understood says nothing of its calls.
        const bool of_calls = verdict.blame == routing::Blame::upstream || is_limit(verdict.cause);
        for (const std::size_t place : group_.places) {
            lose(place, of_calls ? verdict.cause : Cause::bad_reply, {});
        }
    }

    void report_item(std::size_t place, const Verdict& verdict, core::TimePoint at,
                     core::Duration latency) {
        const CallPlan& plan = group_.plans[place];
        const std::hash<std::string_view> hash;
        chain_.pool.report({.upstream = group_.upstream,
                            .method = plan.call->method,
                            .traits = plan.traits,
                            .verdict = verdict,
                            .latency = latency,
                            .call_hash = hash(plan.call->method) * 31 + hash(plan.call->params),
                            .at = at});
    }

    static constexpr std::size_t kLongestRefusal = 4096;  // bytes that are read for a number

    Services& services_;
    ChainContext& chain_;
    Group& group_;
    Answers& answers_;
    const core::TimePoint begun_;
    const core::TimePoint now_;
    Unanswered unanswered_;
    std::vector<std::size_t> missing_;
    std::vector<std::pair<std::size_t, Verdict>> refusals_;
    std::optional<std::size_t> named_;
    std::optional<upstream::BatchReport::End> end_;
    Verdict verdict_;           // of the message
    std::size_t answered_ = 0;  // of its calls
};

}  // namespace

std::size_t size_of(const Group& group) {
    std::size_t size = 2;
    for (const std::size_t place : group.places) {
        const jsonrpc::Call& call = group.plans[place].in_array();
        size += kCallHead + call.method.size() + call.params.size();
    }
    return size;
}

runtime::Task<Unanswered> send_group(Services& services, ChainContext& chain, Group& group,
                                     Answers& answers) {
    const std::uint64_t first_id = services.next_id;
    services.next_id += group.places.size();
    const std::string text = array_of(group, first_id);
    const std::array<std::string_view, 1> body{text};
    const core::TimePoint begin = services.worker.clock.now();
    const upstream::Attempt attempt{
        .chain = chain.index,
        .upstream = group.upstream,
        .body = body,
        .now = begin,
        .deadline = group.deadline,
        .connection = upstream::Connection::pooled,
        .reply_buffer = chain.config.reply_buffer,
        .max_reply = chain.config.max_reply,
        .cancellation = &group.cancellation,
    };
    upstream::TransportResult result = co_await services.transport.send(attempt);
    std::optional<TransportFailure> failure;
    if (!result) {
        failure = result.error();
    } else if (result->rest) {
        failure = co_await read_to_end(services.worker.buffers, *result);
    }
    if (group.client.gone() && failure) {
        co_return Unanswered();  // cut off for its leaving: says nothing of the upstream
    }
    Judgement judgement(services, chain, group, answers, begin);
    if (!failure) {
        judgement.judge_reply(std::move(*result), first_id);
    } else if (group.cancellation.cancelled()) {
        judgement.judge_late();
    } else {
        judgement.judge_failure(*failure);
    }
    judgement.report(begin);
    co_return judgement.take();
}

}  // namespace weir::proxy
