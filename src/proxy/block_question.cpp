#include "proxy/block_question.hpp"

#include "core/hex.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/attempt.hpp"
#include "upstream/probe.hpp"

#include <algorithm>

namespace weir::proxy {
namespace {

BlockQuestion ask(std::string_view method, std::string_view word) {
    return {method, "[\"" + std::string(word) + "\",false]"};
}

BlockWord word_of(const BlockQuestion& question, const Judged& judged) {
    BlockWord word;
    word.cause = judged.verdict.cause;
    if (judged.verdict.cause == routing::Cause::block_unknown) {
        word.kind = BlockWord::Kind::none;
    }
    if (!judged.answer || judged.answer->kind() != Answer::Kind::result) {
        return word;
    }
    if (jsonrpc::is_null(judged.answer->json())) {
        word.kind = BlockWord::Kind::none;
        return word;
    }
    const auto block = upstream::read_block(judged.answer->json());
    if (!block) {
        word.cause = routing::Cause::bad_reply;
        return word;
    }
    word.kind = question.is_about(block->latest) ? BlockWord::Kind::block : BlockWord::Kind::none;
    word.block = *block;
    return word;
}

}  // namespace

bool BlockQuestion::is_about(const chain::BlockId& block) const {
    return (!number || *number == block.number) && (hash.empty() || hash == block.hash);
}

BlockQuestion BlockQuestion::by_tag(std::string_view tag) {
    return ask("eth_getBlockByNumber", tag);
}

BlockQuestion BlockQuestion::by_number(std::uint64_t number) {
    BlockQuestion question = ask("eth_getBlockByNumber", core::to_quantity(number));
    question.number = number;
    return question;
}

BlockQuestion BlockQuestion::by_hash(std::string_view hash) {
    BlockQuestion question = ask("eth_getBlockByHash", hash);
    question.hash = hash;
    return question;
}

bool may_be_sent(const ChainContext& chain, routing::UpstreamIndex upstream,
                 std::string_view method) {
    const auto pool = chain.pool.snapshots().get();
    const auto& policy = pool->upstreams[upstream].policy;
    return !policy || policy->allows(routing::find_method(method), method);
}

runtime::Task<BlockWord> ask_for_block(Services& services, ChainContext& chain,
                                       routing::UpstreamIndex upstream,
                                       const BlockQuestion& question, const CallPlan& payer,
                                       core::TimePoint deadline,
                                       upstream::Cancellation* cancellation) {
    const jsonrpc::Call call{.id = "0", .method = question.method, .params = question.params};
    CallPlan plan;
    plan.call = &call;
    plan.traits = &routing::find_method(call.method);
    plan.client = payer.client;
    plan.meter = payer.meter;
    AttemptOptions options = options_of_question(services, chain, upstream, call.params, deadline);
    options.cancellation = cancellation;
    const Judged judged = co_await send_call(services, chain, plan, options);
    BlockWord word = word_of(question, judged);
    if (cancellation == nullptr || !cancellation->cancelled()) {
        report_attempt(services, chain, plan, upstream, judged);
    }
    const auto wall = services.worker.clock.wall_now().time_since_epoch();
    word.block.at = judged.at;
    word.block.wall = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(wall).count()));
    co_return word;
}

}  // namespace weir::proxy
