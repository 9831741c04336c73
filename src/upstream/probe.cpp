#include "upstream/probe.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"
#include "jsonrpc/reply.hpp"
#include "jsonrpc/value.hpp"
#include "routing/classify.hpp"

#include <array>
#include <string>
#include <utility>

namespace weir::upstream {
namespace {

constexpr std::string_view kProbeId = "1";
constexpr std::string_view kAskChainId =
    R"({"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]})";

std::string block_question(std::string_view block) {
    return R"({"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":[")" +
           std::string(block) + R"(",false]})";
}

constexpr std::string_view kAnyMethod = "eth_getBlockByNumber";

constexpr routing::Verdict kBadAnswer = {routing::Disposition::try_another,
                                         routing::Blame::upstream, routing::Cause::bad_reply,
                                         std::nullopt};

std::optional<std::string_view> text_member(std::string_view object, std::string_view name) {
    return jsonrpc::plain_string(jsonrpc::member(object, name));
}

routing::Verdict judge(const ProbeTarget& target, const routing::AttemptOutcome& outcome) {
    const routing::CallSent probe{.method = kAnyMethod,
                                  .traits = routing::find_method(kAnyMethod),
                                  .params = {},
                                  .message = routing::Message::single};
    return routing::classify(*target.profile, probe, outcome);
}

bool is_about_the_account(const routing::Verdict& verdict) {
    return verdict.cause == routing::Cause::rate_limited ||
           verdict.cause == routing::Cause::quota_exhausted ||
           verdict.cause == routing::Cause::auth_failed;
}

// Nothing came of it, and that was the upstream's doing or the gateway's own.
bool is_transport_failure(const routing::Verdict& verdict) {
    return verdict.cause == routing::Cause::timeout ||
           verdict.cause == routing::Cause::connect_failed ||
           verdict.cause == routing::Cause::connection_lost;
}

// To a question that every node can answer, an error that would be a client's answer is the
// upstream's failure.
routing::Verdict failure_of(routing::Verdict verdict) {
    if (!is_about_the_account(verdict) && !is_transport_failure(verdict) &&
        verdict.blame != routing::Blame::upstream) {
        verdict.cause = routing::Cause::server_error;
        verdict.blame = routing::Blame::upstream;
    }
    return verdict;
}

// The raw bytes of the result, or the verdict on a client's call that ended so.
runtime::Task<ProbeResult<std::string>> ask(Transport& transport, const runtime::Clock& clock,
                                            ProbeTarget target, std::string_view question,
                                            Cancellation& cancellation) {
    const std::array<std::string_view, 1> body = {question};
    Attempt attempt;
    attempt.chain = target.chain;
    attempt.upstream = target.upstream;
    attempt.body = body;
    attempt.now = clock.now();
    attempt.deadline = attempt.now + target.timeout;
    attempt.reply_buffer = target.max_reply;
    attempt.max_reply = target.max_reply;
    attempt.cancellation = &cancellation;

    TransportResult result = co_await transport.send(attempt);
    const bool was_stale = !result && !cancellation.cancelled() &&
                           result.error().cause == routing::Cause::connection_lost &&
                           result.error().origin == routing::TransportFailure::Origin::gateway;
    if (was_stale) {
        attempt.connection = Connection::never_stale;
        attempt.now = clock.now();
        result = co_await transport.send(attempt);
    }
    if (!result) {
        const routing::AttemptOutcome outcome = result.error();
        co_return judge(target, outcome);
    }
    const TransportReply& received = *result;
    if (received.rest) {
        co_return kBadAnswer;
    }
    routing::HttpReply reply;
    reply.head = received.head;
    reply.head.clock = {.now = clock.wall_now(), .reach = target.max_cooldown};
    reply.body = received.body.bytes();
    const auto parsed = jsonrpc::parse_reply(reply.body);
    if (parsed && (*parsed).id == kProbeId) {
        reply.reply = *parsed;
        if (!reply.reply->is_error()) {
            std::string bytes(reply.reply->result);
            co_return bytes;
        }
    }
    const routing::AttemptOutcome outcome = std::move(reply);
    co_return judge(target, outcome);
}

}  // namespace

std::optional<std::uint64_t> read_chain_id(std::string_view result) {
    if (const auto text = jsonrpc::plain_string(result)) {
        const auto quantity = core::parse_quantity(*text);
        return quantity ? quantity : core::parse_decimal(*text);
    }
    return core::parse_decimal(result);
}

std::optional<chain::Observation> read_block(std::string_view result) {
    if (!jsonrpc::is_object(result)) {
        return std::nullopt;
    }
    const auto number = core::parse_quantity(text_member(result, "number").value_or(""));
    const std::string_view hash = text_member(result, "hash").value_or("");
    const std::string_view parent = text_member(result, "parentHash").value_or("");
    if (!number || !core::is_hex_data(hash, 32)) {
        return std::nullopt;
    }
    chain::Observation observation;
    observation.latest = {*number, core::to_lower(hash)};
    if (core::is_hex_data(parent, 32)) {
        observation.parent_hash = core::to_lower(parent);
    }
    observation.timestamp =
        core::parse_quantity(text_member(result, "timestamp").value_or("")).value_or(0);
    return observation;
}

std::uint64_t wall_seconds(const runtime::Clock& clock) {
    const auto wall = clock.wall_now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(wall).count()));
}

runtime::Task<ProbeResult<std::uint64_t>> ask_chain_id(Transport& transport,
                                                       const runtime::Clock& clock,
                                                       ProbeTarget target,
                                                       Cancellation& cancellation) {
    const ProbeResult<std::string> result =
        co_await ask(transport, clock, target, kAskChainId, cancellation);
    if (!result) {
        co_return failure_of(result.error());
    }
    const auto chain_id = read_chain_id(*result);
    if (!chain_id) {
        co_return kBadAnswer;
    }
    co_return *chain_id;
}

runtime::Task<ProbeResult<chain::Observation>> ask_head(Transport& transport,
                                                        const runtime::Clock& clock,
                                                        ProbeTarget target,
                                                        Cancellation& cancellation) {
    const std::string question = block_question("latest");
    const ProbeResult<std::string> result =
        co_await ask(transport, clock, target, question, cancellation);
    if (!result) {
        co_return failure_of(result.error());
    }
    auto observation = read_block(*result);
    if (!observation) {
        co_return kBadAnswer;
    }
    observation->at = clock.now();
    observation->wall = wall_seconds(clock);
    co_return *observation;
}

runtime::Task<ProbeResult<std::optional<chain::BlockId>>> ask_tag(Transport& transport,
                                                                  const runtime::Clock& clock,
                                                                  ProbeTarget target,
                                                                  chain::Tag tag,
                                                                  Cancellation& cancellation) {
    const std::string question = block_question(chain::to_string(tag));
    const ProbeResult<std::string> result =
        co_await ask(transport, clock, target, question, cancellation);
    const std::optional<chain::BlockId> none;
    if (!result) {
        const routing::Verdict verdict = result.error();
        if (verdict.blame == routing::Blame::upstream || is_about_the_account(verdict)) {
            co_return verdict;
        }
        co_return none;
    }
    if (jsonrpc::is_null(*result)) {
        co_return none;
    }
    const auto observation = read_block(*result);
    if (!observation) {
        co_return kBadAnswer;
    }
    const std::optional<chain::BlockId> block = observation->latest;
    co_return block;
}

runtime::Task<ProbeResult<chain::BlockId>> ask_block(Transport& transport,
                                                     const runtime::Clock& clock,
                                                     ProbeTarget target, std::uint64_t number,
                                                     Cancellation& cancellation) {
    const std::string question = block_question(core::to_quantity(number));
    const ProbeResult<std::string> result =
        co_await ask(transport, clock, target, question, cancellation);
    if (!result) {
        co_return failure_of(result.error());
    }
    const auto observation = read_block(*result);
    if (!observation || observation->latest.number != number) {
        co_return kBadAnswer;
    }
    co_return observation->latest;
}

}  // namespace weir::upstream
