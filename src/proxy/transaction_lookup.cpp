#include "proxy/transaction_lookup.hpp"

#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/attempt.hpp"
#include "runtime/event.hpp"
#include "runtime/task_group.hpp"

#include <algorithm>
#include <list>
#include <string_view>
#include <utility>

namespace weir::proxy {
namespace {

constexpr core::Duration kFirstPause = std::chrono::milliseconds(100);
constexpr core::Duration kLongestPause = std::chrono::seconds(1);
constexpr core::Duration kLastLook = std::chrono::milliseconds(250);  // what it may take

bool may_be_asked(const routing::UpstreamView& upstream) {
    return upstream.state == routing::UpstreamState::fit ||
           upstream.state == routing::UpstreamState::lagging;
}

// What the searchers of all upstreams share.
struct Search {
    Services& services;
    ChainContext& chain;
    const CallPlan& plan;
    const Question& question;
    std::string_view hash_member;
    std::size_t unasked;  // upstreams whose first look has not ended
    Lookup lookup;
    routing::Tried denied;  // who said that it does not know it
    bool over = false;
    std::list<upstream::Cancellation> running;
    std::list<runtime::Event> pauses;

    Heard take(routing::UpstreamIndex upstream, const Judged& judged);
    void end_if_settled();
};

Heard Search::take(routing::UpstreamIndex upstream, const Judged& judged) {
    if (!judged.answer || judged.answer->kind() != Answer::Kind::result) {
        return Heard::nothing;
    }
    const std::string_view json = judged.answer->json();
    const auto said = jsonrpc::plain_string(jsonrpc::member(json, hash_member));
    if (said && core::iequals(*said, question.hash)) {
        lookup.found = Lookup::Found::yes;
        lookup.upstream = upstream;
        lookup.value = json;
        return Heard::found;
    }
    if (!jsonrpc::is_null(json)) {
        return Heard::nothing;
    }
    lookup.found = Lookup::Found::no;
    denied.set(upstream);
    return Heard::not_found;
}

void Search::end_if_settled() {
    const bool found = lookup.found == Lookup::Found::yes;
    if (over || (!found && (unasked != 0 || (denied & question.settled_by).none()))) {
        return;
    }
    over = true;
    for (upstream::Cancellation& attempt : running) {
        attempt.cancel();
    }
    for (runtime::Event& pause : pauses) {
        pause.set();
    }
}

runtime::Task<> look_once(Search& search, routing::UpstreamIndex upstream,
                          upstream::Cancellation& cancellation) {
    const auto pool = search.chain.pool.snapshots().get();
    if (!may_be_asked(pool->upstreams[upstream])) {
        co_return;
    }
    const core::TimePoint now = search.services.worker.clock.now();
    std::optional<upstream::Permit> permit =
        search.chain.pool.admit(upstream, *search.plan.traits, now).permit;
    if (!permit) {
        co_return;
    }
    const AttemptOptions options{.upstream = upstream,
                                 .now = now,
                                 .deadline = std::min(search.question.times.deadline,
                                                      now + search.chain.config.timeouts.attempt),
                                 .connection = upstream::Connection::pooled,
                                 .long_replies = LongReplies::buffer,
                                 .cancellation = &cancellation,
                                 .params = search.plan.call->params};
    ++search.lookup.attempts;
    Judged judged = co_await send_call(search.services, search.chain, search.plan, options);
    permit.reset();
    if (search.over) {
        co_return;
    }
    report_attempt(search.services, search.chain, search.plan, upstream, judged);
    const Heard heard = search.take(upstream, judged);
    if (search.question.listener != nullptr) {
        search.question.listener->on_look(upstream, heard, judged.verdict.cause);
    }
}

runtime::Task<> look_again_and_again(Search& search, routing::UpstreamIndex upstream) {
    runtime::Worker& worker = search.services.worker;
    upstream::Cancellation& cancellation = search.running.emplace_back();
    runtime::Event& ended = search.pauses.emplace_back(worker.io);
    bool first = true;
    for (core::Duration pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
        if (search.over) {
            co_return;
        }
        co_await look_once(search, upstream, cancellation);
        search.unasked -= std::exchange(first, false) ? 1U : 0U;
        search.end_if_settled();
        const core::TimePoint now = worker.clock.now();
        if (search.over || now >= search.question.times.until) {
            co_return;
        }
        co_await ended.wait_until(std::min(now + pause, search.question.times.until));
    }
}

}  // namespace

LookupTimes look_within(core::Duration time, core::TimePoint now, core::TimePoint deadline) {
    LookupTimes times;
    times.deadline = std::min(deadline, now + time + kLastLook);
    const core::Duration last = std::min(kLastLook, (times.deadline - now) / 4);
    times.until = std::min(now + time, times.deadline - last);
    return times;
}

runtime::Task<Lookup> look_up(Services& services, ChainContext& chain, Question question) {
    const bool receipt = question.what == Question::For::receipt;
    const std::string params = "[\"" + question.hash + "\"]";
    const jsonrpc::Call call{
        .id = "0",
        .method = receipt ? "eth_getTransactionReceipt" : "eth_getTransactionByHash",
        .params = params};
    CallPlan plan;
    plan.call = &call;
    plan.traits = &routing::find_method(call.method);
    const std::size_t upstreams = chain.config.upstreams.size();
    Search search{.services = services,
                  .chain = chain,
                  .plan = plan,
                  .question = question,
                  .hash_member = receipt ? "transactionHash" : "hash",
                  .unasked = upstreams,
                  .lookup = {},
                  .denied = {},
                  .over = false,
                  .running = {},
                  .pauses = {}};
    runtime::TaskGroup group(services.worker.io);
    for (routing::UpstreamIndex i = 0; i < upstreams; ++i) {
        group.spawn(look_again_and_again(search, i));
    }
    co_await group.join();
    co_return std::move(search.lookup);
}

}  // namespace weir::proxy
