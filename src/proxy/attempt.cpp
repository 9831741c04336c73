#include "proxy/attempt.hpp"

#include "jsonrpc/value.hpp"
#include "jsonrpc/write.hpp"
#include "routing/classify.hpp"
#include "routing/shape.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>

namespace weir::proxy {
namespace {

using routing::HttpReply;
using routing::TransportFailure;

bool is_our_id(std::string_view id, std::uint64_t ours) { return number_of(id) == ours; }

// Errors often come without the id, as the answer to whatever was sent on this connection; a result
// must show it.
std::optional<jsonrpc::Reply> own_reply(std::string_view body, std::uint64_t id) {
    const core::Result<jsonrpc::Reply> reply = jsonrpc::parse_reply(body);
    if (!reply) {
        return std::nullopt;
    }
    const bool anonymous = reply->id.empty() || jsonrpc::is_null(reply->id);
    if (is_our_id(reply->id, id) || (anonymous && reply->is_error())) {
        return *reply;
    }
    return std::nullopt;
}

// Can the result be passed on before its end has been seen?
bool shows_own_result(const jsonrpc::EnvelopeScanner& scanner, std::string_view read,
                      std::uint64_t id) {
    const jsonrpc::Envelope& seen = scanner.envelope();
    return scanner.state() == jsonrpc::EnvelopeScanner::State::more && seen.id &&
           seen.id->closed() && is_our_id(seen.id->of(read), id) && seen.result && !seen.error;
}

// Where a call went, and what was sent.
struct Sending {
    const ChainContext& chain;
    const CallPlan& plan;
    const AttemptOptions& options;
};

routing::CallSent call_of(const Sending& sending) {
    return {.method = sending.plan.call->method,
            .traits = *sending.plan.traits,
            .params = sending.options.params,
            .message = routing::Message::single};
}

Answer received_error(const telemetry::PieceRedactor& secrets, std::string_view error,
                      runtime::Buffer body) {
    std::optional<Answer> redacted = redacted_error(secrets, error);
    return redacted ? std::move(*redacted)
                    : Answer::received(Answer::Kind::rpc_error, error, std::move(body));
}

bool is_unknown(routing::Cause cause) {
    return cause == routing::Cause::unknown || cause == routing::Cause::bad_reply;
}

Judged judge_whole(const Services& services, const Sending& sending,
                   upstream::TransportReply&& reply, std::uint64_t id) {
    Judged judged;
    HttpReply http{.head = std::move(reply.head),
                   .reply = own_reply(reply.body.bytes(), id),
                   .body = reply.body.bytes()};
    const std::optional<jsonrpc::Reply> own = http.reply;
    if (!own || own->is_error()) {
        http.head.clock = own_clock(services, sending.chain);
    }
    judged.verdict = routing::classify(*sending.chain.profiles[sending.options.upstream],
                                       call_of(sending), http);
    if (is_unknown(judged.verdict.cause)) {
        observe(services, sending.chain, sending.options.upstream, http);
    }
    if (own && (!own->is_error() || is_for_clients(*own, judged.verdict))) {
        judged.answer =
            own->is_error()
                ? received_error(services.secrets, own->error, std::move(reply.body))
                : Answer::received(Answer::Kind::result, own->result, std::move(reply.body));
        judged.answer->upstream_failed = judged.verdict.blame == routing::Blame::upstream;
    }
    return judged;
}

// Takes the reply over if it may be passed on before its end; null if not.
std::unique_ptr<LongResult> begin_to_stream(upstream::TransportReply& reply, std::uint64_t id,
                                            LongReplies long_replies) {
    if (long_replies == LongReplies::buffer) {
        return nullptr;
    }
    jsonrpc::EnvelopeScanner scanner;
    scanner.feed(reply.body.bytes());
    if (!shows_own_result(scanner, reply.body.bytes(), id)) {
        return nullptr;
    }
    return std::make_unique<LongResult>(
        LongResult{std::move(reply.body), std::move(reply.rest), std::move(scanner), {}});
}

// `streamed` if there is one; else no reply, or one that is here as a whole.
Judged judge_result(const Services& services, const Sending& sending,
                    std::unique_ptr<LongResult> streamed, upstream::TransportResult& result,
                    std::uint64_t id) {
    Judged judged;
    const core::TimePoint at = result ? result->at : services.worker.clock.now();
    if (streamed) {
        judged.answer = Answer::streamed(std::move(streamed));
    } else if (result) {
        judged = judge_whole(services, sending, std::move(*result), id);
    } else {
        TransportFailure failure = result.error();
        judged.verdict = routing::classify(call_of(sending), failure);
        judged.sent = failure.sent;
        judged.no_room = failure.origin == TransportFailure::Origin::no_room;
        judged.detail = std::move(failure.detail);
    }
    judged.at = at;
    judged.latency = at - sending.options.now;
    return judged;
}

}  // namespace

std::optional<std::uint64_t> number_of(std::string_view id) {
    if (id.size() >= 2 && id.front() == '"' && id.back() == '"') {
        id = id.substr(1, id.size() - 2);
    }
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(id.data(), id.data() + id.size(), value);
    const bool whole = error == std::errc{} && stop == id.data() + id.size();
    return whole ? std::optional<std::uint64_t>(value) : std::nullopt;
}

runtime::Task<std::optional<TransportFailure>> read_to_end(runtime::BufferPool& buffers,
                                                           upstream::TransportReply& reply) {
    runtime::Buffer chunk(buffers);
    for (;;) {
        const auto step = co_await reply.rest->read(chunk);
        if (!step) {
            co_return step.error();
        }
        if (!reply.body.append(chunk.bytes())) {
            co_return TransportFailure{.cause = routing::Cause::response_too_large,
                                       .detail = "no memory left for the reply",
                                       .origin = TransportFailure::Origin::no_room};
        }
        if (*step == upstream::ReplyRest::Chunk::end) {
            reply.rest.reset();
            co_return std::nullopt;
        }
    }
}

bool is_for_clients(const jsonrpc::Reply& reply, const routing::Verdict& verdict) {
    return verdict.cause != routing::Cause::bad_reply &&
           (jsonrpc::is_object(reply.error) ||
            (jsonrpc::is_string(reply.error) && verdict.blame != routing::Blame::upstream));
}

std::optional<Answer> redacted_error(const telemetry::PieceRedactor& secrets,
                                     std::string_view error) {
    std::string scratch;
    const std::string_view shown = secrets.apply(error, scratch);
    if (shown.data() == error.data()) {
        return std::nullopt;
    }
    // A piece may have stood where it is no text: in a number, across two members.
    return Answer::copied_error(jsonrpc::is_valid(shown) ? std::string(shown)
                                                         : R"({"code":-32000,"message":"***"})");
}

routing::OwnClock own_clock(const Services& services, const ChainContext& chain) {
    return {.now = services.worker.clock.wall_now(),
            .reach = chain.config.rate_limits.max_cooldown};
}

void observe(const Services& services, const ChainContext& chain, routing::UpstreamIndex upstream,
             const HttpReply& reply) {
    const config::Upstream& config = chain.config.upstreams[upstream];
    // Secrets first: what numbers and hex are replaced in is no longer found to be a piece of one.
    const routing::Shape shape = routing::shape_of(reply, [&services](std::string_view text) {
        std::string scratch;
        return std::string(services.secrets.apply(text, scratch));
    });
    services.metrics.unknown_shape();
    services.observations.note({chain.config.name, config.name, config.provider}, shape,
                               services.worker.clock.wall_now());
}

AttemptOptions options_of_question(const Services& services, const ChainContext& chain,
                                   routing::UpstreamIndex upstream, std::string_view params,
                                   core::TimePoint deadline) {
    const core::TimePoint now = services.worker.clock.now();
    return {.upstream = upstream,
            .now = now,
            .deadline = std::min(deadline, now + chain.config.timeouts.attempt),
            .connection = upstream::Connection::pooled,
            .long_replies = LongReplies::buffer,
            .cancellation = nullptr,
            .params = params};
}

runtime::Task<Judged> send_call(Services& services, const ChainContext& chain, const CallPlan& plan,
                                const AttemptOptions& options) {
    const Sending sending{chain, plan, options};
    const std::uint64_t id = services.next_id++;
    const jsonrpc::CallPieces body(id, plan.call->method, options.params);
    const upstream::Attempt attempt{
        .chain = chain.index,
        .upstream = options.upstream,
        .body = body.get(),
        .now = options.now,
        .deadline = options.deadline,
        .connection = options.connection,
        .reply_buffer = chain.config.reply_buffer,
        .max_reply = chain.config.max_reply,
        .cancellation = options.cancellation,
    };
    upstream::TransportResult result = co_await services.transport.send(attempt);
    std::unique_ptr<LongResult> streamed;
    if (result && result->rest) {
        streamed = begin_to_stream(*result, id, options.long_replies);
        if (!streamed) {
            std::optional<TransportFailure> failure =
                co_await read_to_end(services.worker.buffers, *result);
            result->at = services.worker.clock.now();
            if (failure) {
                result = std::move(*failure);
            }
        }
    }
    co_return judge_result(services, sending, std::move(streamed), result, id);
}

void count_units(const ChainContext& chain, const CallPlan& plan, routing::UpstreamIndex upstream,
                 std::uint64_t units) {
    chain.meter.units(upstream, units);
    if (plan.meter != nullptr) {
        plan.meter->units(units);
    }
}

void report_attempt(Services& services, ChainContext& chain, const CallPlan& plan,
                    routing::UpstreamIndex upstream, const Judged& judged) {
    using Kind = routing::BlockNeed::Kind;
    const routing::Verdict& verdict = judged.verdict;
    std::uint64_t call_hash = 0;  // only failures are told apart by their calls
    if (verdict.cause != routing::Cause::answered) {
        const std::hash<std::string_view> hash;
        call_hash = hash(plan.call->method) * 31 + hash(plan.call->params);
    }
    chain.pool.report({.upstream = upstream,
                       .method = plan.call->method,
                       .traits = plan.traits,
                       .verdict = verdict,
                       .latency = judged.latency,
                       .call_hash = call_hash,
                       .at = judged.at,
                       .answers = judged.answers,
                       .state_block = plan.block.state && plan.block.kind == Kind::number
                                          ? std::optional(plan.block.number)
                                          : std::nullopt});
    count_units(chain, plan, upstream,
                chain.pool.units_of(upstream, {*plan.traits, plan.call->method}));
    chain.meter.attempt(upstream, static_cast<std::size_t>(verdict.cause), judged.latency);
    if (verdict.blame == routing::Blame::upstream &&
        services.log.enabled(config::LogLevel::debug)) {
        services.log.write(config::LogLevel::debug, "attempt failed",
                           {{"chain", chain.config.name},
                            {"upstream", chain.config.upstreams[upstream].name},
                            {"method", plan.call->method},
                            {"cause", routing::to_string(verdict.cause)},
                            {"detail", judged.detail}});
    }
}

}  // namespace weir::proxy
