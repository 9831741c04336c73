#include "probe/asker.hpp"

#include "core/harmless.hpp"
#include "jsonrpc/reply.hpp"
#include "jsonrpc/write.hpp"
#include "proxy/batch_reply.hpp"
#include "routing/batch_limit.hpp"
#include "routing/classify.hpp"
#include "routing/complaint.hpp"
#include "runtime/event.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <variant>

namespace weir::probe {
namespace {

using routing::AttemptOutcome;
using routing::HttpReply;

constexpr std::uint64_t kFirstId = 1;

std::string body_of(const Question& question) {
    const std::size_t calls = std::max<std::size_t>(question.calls, 1);
    std::string body = question.calls == 0 ? "" : "[";
    for (std::size_t i = 0; i < calls; ++i) {
        body += i == 0 ? "" : ",";
        jsonrpc::append_call_head(body, kFirstId + i, question.method, jsonrpc::Params::follow);
        body += question.params + "}";
    }
    return question.calls == 0 ? body : body + "]";
}

std::uint64_t seconds_since_1970(core::WallTime time) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, seconds));
}

// What came in place of an answer, where that can be told.
std::string_view kind_of(const HttpReply& reply) {
    const auto begin = reply.body.find_first_not_of(" \t\r\n");
    if (reply.head.status >= 300 && reply.head.status < 400) {
        return "a redirect, which is not followed; ";
    }
    if (begin == std::string_view::npos) {
        return "an empty body; ";
    }
    if (reply.body[begin] == '<') {
        return "a page of HTML or XML, no JSON; ";
    }
    if (jsonrpc::parse_reply(reply.body)) {
        return "an answer to another call; ";
    }
    return "no JSON-RPC; ";
}

// What a reply that is no answer says, in its own words.
std::string words_of(const HttpReply& reply) {
    const routing::Complaint complaint = reply.reply && reply.reply->is_error()
                                             ? routing::read_complaint(reply.reply->error)
                                             : routing::read_stray_complaint(reply.body);
    std::string words = complaint.texts.empty() ? "" : complaint.texts.front();
    if (words.empty() || words.starts_with('<')) {
        words = (reply.reply ? "" : std::string(kind_of(reply))) + "HTTP status " +
                std::to_string(reply.head.status);
    }
    return words;
}

// Some of an array's calls were left out, or answered twice: it is too large, as far as anybody
// can tell.
Heard judge_gaps(const std::vector<std::optional<jsonrpc::ArrayItem>>& items) {
    const auto gap =
        std::find_if(items.begin(), items.end(), [](const auto& item) { return !item; });
    const auto answered = static_cast<std::size_t>(
        std::count_if(items.begin(), items.end(), [](const auto& item) { return bool{item}; }));
    Heard heard;
    heard.cause = routing::Cause::batch_too_large;
    heard.words = "only " + std::to_string(answered) + " of its calls are answered, once each";
    if (answered != 0 && static_cast<std::size_t>(gap - items.begin()) == answered) {
        heard.named = answered;  // the first ones
    }
    return heard;
}

}  // namespace

std::string Asker::presentable(std::string_view text) const {
    constexpr std::size_t kLongest = 160;
    std::string scratch;
    std::string shown = core::harmless(secrets_.apply(text, scratch));
    if (shown.size() > kLongest) {
        core::cut_between_characters(shown, kLongest);
        shown += "...";
    }
    return shown;
}

Heard Asker::judge_failure(const Question& question, const Target& target,
                           const AttemptOutcome& outcome) const {
    const routing::CallSent call{
        .method = question.method,
        .traits = routing::find_method(question.method),
        .params = question.params,
        .message = question.calls == 0 ? routing::Message::single : routing::Message::batch};
    const routing::Verdict verdict = routing::classify(*target.profile, call, outcome);
    Heard heard;
    heard.cause = verdict.cause;
    heard.retry_after = verdict.retry_after;
    if (const auto* failure = std::get_if<routing::TransportFailure>(&outcome)) {
        heard.words = presentable(failure->detail);
        return heard;
    }
    const auto& reply = std::get<HttpReply>(outcome);
    const std::string words = words_of(reply);
    if (question.calls > 0) {
        const std::string_view data = reply.reply ? reply.reply->error : reply.body;
        heard.named = routing::named_batch_limit(data, question.calls);
    }
    heard.words = presentable(words);
    return heard;
}

Heard Asker::judge_single(const Question& question, const Target& target, HttpReply reply) const {
    const auto parsed = jsonrpc::parse_reply(reply.body);
    if (parsed && parsed->id == std::to_string(kFirstId)) {
        reply.reply = *parsed;
        if (!parsed->is_error()) {
            Heard heard;
            heard.result = parsed->result;
            return heard;
        }
    }
    return judge_failure(question, target, AttemptOutcome(std::move(reply)));
}

// Answered only if each of its calls was; otherwise judged by the first error.
Heard Asker::judge_array(const Question& question, const Target& target, HttpReply reply) const {
    const proxy::BatchReply read = proxy::read_batch_reply(reply.body, kFirstId, question.calls);
    if (!read.any) {
        reply.reply = read.whole;
        return judge_failure(question, target, AttemptOutcome(std::move(reply)));
    }
    for (const auto& item : read.items) {
        if (item && item->reply->is_error()) {
            reply.reply = item->reply;
            reply.body = item->raw;
            return judge_failure(question, target, AttemptOutcome(std::move(reply)));
        }
    }
    const bool whole = std::all_of(read.items.begin(), read.items.end(),
                                   [](const auto& item) { return bool{item}; });
    return whole ? Heard{} : judge_gaps(read.items);
}

runtime::Task<Heard> Asker::ask(const Question& question, Target target) {
    const std::string body = body_of(question);
    const std::array<std::string_view, 1> pieces = {body};
    const core::TimePoint start = worker_.clock.now();
    upstream::Attempt attempt;
    attempt.chain = target.chain;
    attempt.upstream = target.upstream;
    attempt.body = pieces;
    attempt.now = start;
    attempt.deadline = start + target.timeout;
    attempt.reply_buffer = kMostReply;
    attempt.max_reply = kMostReply;
    attempt.rate_fields = upstream::RateFields::of_every_reply;
    const upstream::TransportResult result = co_await transport_.send(attempt);
    Heard heard;
    if (!result) {
        const AttemptOutcome outcome = result.error();
        heard = judge_failure(question, target, outcome);
    } else {
        HttpReply reply;
        reply.head = result->head;
        reply.body = result->body.bytes();
        heard = question.calls == 0 ? judge_single(question, target, std::move(reply))
                                    : judge_array(question, target, std::move(reply));
        for (const auto& [name, value] : result->head.limits) {
            heard.limits.emplace_back(presentable(name), presentable(value));
        }
    }
    heard.latency = worker_.clock.now() - start;
    heard.wall = seconds_since_1970(worker_.clock.wall_now());
    co_return heard;
}

runtime::Task<> Asker::examine(Examination& examination, Target target, const Watcher& watcher) {
    while (const auto question = examination.next()) {
        const core::TimePoint when = worker_.clock.now() + examination.pause();
        if (examination.pause() > core::Duration::zero()) {
            co_await runtime::sleep_until(worker_.io, when);
        }
        watcher(*question);
        const Heard heard = co_await ask(*question, target);
        examination.hear(*question, heard);
    }
}

}  // namespace weir::probe
