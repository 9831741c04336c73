#include "proxy/transaction_lookup.hpp"

#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/attempt.hpp"
#include "runtime/event.hpp"
#include "runtime/task_group.hpp"

#include <algorithm>
#include <list>
#include <utility>

namespace weir::proxy {
namespace {

constexpr core::Duration kFirstPause = std::chrono::milliseconds(100);
constexpr core::Duration kLongestPause = std::chrono::seconds(1);

bool may_be_asked(const routing::UpstreamView& upstream) {
    return upstream.state == routing::UpstreamState::fit ||
           upstream.state == routing::UpstreamState::lagging;
}

struct Round {
    Services& services;
    ChainContext& chain;
    const CallPlan& plan;
    const std::string& hash;
    std::string_view hash_member;
    core::TimePoint deadline;
    Lookup lookup;
    std::list<upstream::Cancellation> running;

    void take(routing::UpstreamIndex upstream, Judged judged);
};

void Round::take(routing::UpstreamIndex upstream, Judged judged) {
    if (lookup.found == Lookup::Found::yes || !judged.answer ||
        judged.answer->kind() != Answer::Kind::result) {
        return;
    }
    const std::string_view json = judged.answer->json();
    const auto said = jsonrpc::plain_string(jsonrpc::member(json, hash_member));
    if (said && core::iequals(*said, hash)) {
        lookup = {Lookup::Found::yes, upstream, std::string(json)};
        for (upstream::Cancellation& other : running) {
            other.cancel();
        }
    } else if (jsonrpc::is_null(json)) {
        lookup.found = Lookup::Found::no;
    }
}

runtime::Task<> ask(Round& round, routing::UpstreamIndex upstream) {
    const core::TimePoint now = round.services.worker.clock.now();
    std::optional<upstream::Permit> permit =
        round.chain.pool.admit(upstream, *round.plan.traits, now).permit;
    if (!permit || round.lookup.found == Lookup::Found::yes) {
        co_return;
    }
    upstream::Cancellation& cancellation = round.running.emplace_back();
    const AttemptOptions options{
        .upstream = upstream,
        .now = now,
        .deadline = std::min(round.deadline, now + round.chain.config.timeouts.attempt),
        .connection = upstream::Connection::pooled,
        .long_replies = LongReplies::buffer,
        .cancellation = &cancellation,
        .params = round.plan.call->params};
    Judged judged = co_await send_call(round.services, round.chain, round.plan, options);
    permit.reset();
    if (!cancellation.cancelled()) {
        report_attempt(round.services, round.chain, round.plan, upstream, judged);
        round.take(upstream, std::move(judged));
    }
}

}  // namespace

runtime::Task<Lookup> look_up(Services& services, ChainContext& chain, const std::string& hash,
                              LookFor what, core::TimePoint deadline) {
    const bool receipt = what == LookFor::receipt;
    const std::string params = "[\"" + hash + "\"]";
    const jsonrpc::Call call{
        .id = "0",
        .method = receipt ? "eth_getTransactionReceipt" : "eth_getTransactionByHash",
        .params = params};
    CallPlan plan;
    plan.call = &call;
    plan.traits = &routing::find_method(call.method);
    Round round{.services = services,
                .chain = chain,
                .plan = plan,
                .hash = hash,
                .hash_member = receipt ? "transactionHash" : "hash",
                .deadline = deadline,
                .lookup = {},
                .running = {}};
    const auto pool = chain.pool.snapshots().get();
    runtime::TaskGroup group(services.worker.io);
    for (routing::UpstreamIndex i = 0; i < pool->upstreams.size(); ++i) {
        if (may_be_asked(pool->upstreams[i])) {
            group.spawn(ask(round, i));
        }
    }
    co_await group.join();
    co_return std::move(round.lookup);
}

runtime::Task<Lookup> look_up_until(Services& services, ChainContext& chain,
                                    const std::string& hash, LookFor what, core::TimePoint until) {
    Lookup last;
    for (core::Duration pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
        Lookup lookup = co_await look_up(services, chain, hash, what, until);
        if (lookup.found != Lookup::Found::no_answer) {
            last = std::move(lookup);
        }
        const core::TimePoint next = services.worker.clock.now() + pause;
        if (last.found == Lookup::Found::yes || next >= until) {
            co_return last;
        }
        co_await runtime::sleep_until(services.worker.io, next);
    }
}

}  // namespace weir::proxy
