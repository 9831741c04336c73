#include "proxy/transaction_lookup.hpp"

#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/attempt.hpp"
#include "proxy/client.hpp"
#include "runtime/event.hpp"
#include "runtime/task_group.hpp"
#include "upstream/place_in_queue.hpp"

#include <algorithm>
#include <list>
#include <string_view>
#include <utility>

namespace weir::proxy {
namespace {

constexpr core::Duration kFirstPause = std::chrono::milliseconds(100);
constexpr core::Duration kLongestPause = std::chrono::seconds(1);
constexpr core::Duration kLastLook = std::chrono::milliseconds(250);  // what it may take

// Even where a circuit is open: the upstream that has just lost a reply is the one that may know.
bool may_be_asked(const routing::UpstreamView& upstream, core::TimePoint now) {
    using enum routing::UpstreamState;
    switch (upstream.state) {
        case fit:
        case lagging:
        case circuit_open:
            return upstream.identified;
        case cooling_down:
            return upstream.identified && upstream.available_at <= now;
        default:
            return false;
    }
}

// It will never tell.
bool lacks_lookups(routing::Cause cause) {
    return cause == routing::Cause::method_unsupported ||
           cause == routing::Cause::plan_lacks_method;
}

// Who asks one upstream; what it waits for can be ended.
struct Searcher {
    Searcher(routing::UpstreamIndex index, boost::asio::io_context& io)
        : upstream(index), ended(io) {}

    const routing::UpstreamIndex upstream;
    upstream::Cancellation attempt;
    upstream::PlaceInQueue* place = nullptr;
    runtime::Event ended;  // of the search

    void stop() {
        attempt.cancel();
        ended.set();
        if (place != nullptr) {
            place->leave();
        }
    }
};

// What the searchers of all upstreams share.
struct Search {
    Services& services;
    ChainContext& chain;
    const CallPlan& plan;
    const Question& question;
    std::string_view hash_member;
    std::size_t unasked;  // upstreams whose first look has not ended
    Lookup lookup;
    routing::Tried denied;  // who said that it does not know it, or cannot tell
    bool over = false;
    std::list<Searcher> searchers;

    Heard take(routing::UpstreamIndex upstream, const Judged& judged);
    void end_if_settled();
};

Heard Search::take(routing::UpstreamIndex upstream, const Judged& judged) {
    if (judged.answer && lacks_lookups(judged.verdict.cause)) {
        denied.set(upstream);
    }
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
    for (Searcher& searcher : searchers) {
        searcher.stop();
    }
}

// The right to ask, at once or in turn; nothing if there is none in time.
runtime::Task<std::optional<upstream::Permit>> permit_for(Search& search, Searcher& searcher) {
    upstream::Pool& pool = search.chain.pool;
    const core::TimePoint now = search.services.worker.clock.now();
    const auto snapshot = pool.snapshots().get();
    if (!may_be_asked(snapshot->upstreams[searcher.upstream], now)) {
        co_return std::nullopt;
    }
    upstream::Admission admission = pool.admit(searcher.upstream, *search.plan.traits, now);
    if (admission.permit || admission.obstacle == upstream::Obstacle::unfit) {
        co_return std::move(admission.permit);
    }
    const upstream::Turn turn{.among = routing::Tried().set(searcher.upstream),
                              .traits = search.plan.traits,
                              .share = share_of(search.plan)};
    upstream::PlaceInQueue place(search.services.worker, pool, turn);
    searcher.place = &place;
    upstream::Waited waited = co_await place.wait(search.question.times.deadline);
    searcher.place = nullptr;
    if (!waited.granted) {
        co_return std::nullopt;
    }
    co_return std::move(waited.granted->permit);
}

runtime::Task<> look_once(Search& search, Searcher& searcher) {
    std::optional<upstream::Permit> permit = co_await permit_for(search, searcher);
    if (!permit || search.over) {
        co_return;
    }
    const routing::UpstreamIndex upstream = searcher.upstream;
    AttemptOptions options =
        options_of_question(search.services, search.chain, upstream, search.plan.call->params,
                            search.question.times.deadline);
    options.cancellation = &searcher.attempt;
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

runtime::Task<> look_again_and_again(Search& search, Searcher& searcher) {
    const runtime::Clock& clock = search.services.worker.clock;
    const core::TimePoint until = search.question.times.until;
    bool first = true;
    for (core::Duration pause = kFirstPause; !search.over;
         pause = std::min(2 * pause, kLongestPause)) {
        co_await look_once(search, searcher);
        search.unasked -= std::exchange(first, false) ? 1U : 0U;
        search.end_if_settled();
        const core::TimePoint now = clock.now();
        if (search.over || now >= until) {
            co_return;
        }
        co_await searcher.ended.wait_until(std::min(now + pause, until));
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
    if (question.payer != nullptr) {
        plan.client = question.payer->client;
        plan.meter = question.payer->meter;
    }
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
                  .searchers = {}};
    runtime::TaskGroup group(services.worker.io);
    for (routing::UpstreamIndex i = 0; i < upstreams; ++i) {
        Searcher& searcher = search.searchers.emplace_back(i, services.worker.io);
        group.spawn(look_again_and_again(search, searcher));
    }
    co_await group.join();
    co_return std::move(search.lookup);
}

}  // namespace weir::proxy
