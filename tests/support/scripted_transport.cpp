#include "support/scripted_transport.hpp"

#include "jsonrpc/value.hpp"
#include "runtime/event.hpp"

#include <algorithm>
#include <utility>

namespace weir::test {
namespace {

using routing::Cause;
using routing::TransportFailure;

// A pause that ends early when the attempt is cancelled.
class Pause final : public upstream::Cancellation::Target {
  public:
    explicit Pause(boost::asio::io_context& io) : event_(io) {}
    void on_cancel() override { event_.set(); }
    runtime::Task<bool> until(core::TimePoint when) { return event_.wait_until(when); }

  private:
    runtime::Event event_;
};

class ScriptedRest final : public upstream::ReplyRest {
  public:
    ScriptedRest(std::string rest, std::size_t piece, bool breaks_off)
        : rest_(std::move(rest)), piece_(piece), breaks_off_(breaks_off) {}

    runtime::Task<core::Result<Chunk, TransportFailure>> read(runtime::Buffer& into) override {
        into.clear();
        if (breaks_off_ && rest_.size() <= piece_) {
            co_return TransportFailure{.detail = "the reply broke off"};
        }
        const std::string next = rest_.substr(0, piece_);
        rest_.erase(0, next.size());
        if (!into.append(next)) {
            co_return TransportFailure{.detail = "no memory"};
        }
        co_return rest_.empty() ? Chunk::end : Chunk::more;
    }
    void set_deadline(core::TimePoint) override {}

  private:
    std::string rest_;
    std::size_t piece_;
    bool breaks_off_;
};

std::string with_id(std::string text, std::string_view id) {
    const std::size_t place = text.find("{id}");
    if (place != std::string::npos) {
        text.replace(place, 4, id);
    }
    return text;
}

TransportFailure failure(Cause cause, TransportFailure::Sent sent) {
    return {.cause = cause, .sent = sent, .detail = "scripted"};
}

Reaction answer(int status, std::string body) {
    Reaction reaction;
    reaction.status = status;
    reaction.body = std::move(body);
    return reaction;
}

}  // namespace

Reaction result(std::string json) {
    Reaction reaction;
    reaction.body = R"({"jsonrpc":"2.0","id":{id},"result":)" + std::move(json) + '}';
    return reaction;
}

Reaction rpc_error(int code, std::string message) {
    Reaction reaction;
    reaction.body = R"({"jsonrpc":"2.0","id":{id},"error":{"code":)" + std::to_string(code) +
                    R"(,"message":")" + std::move(message) + R"("}})";
    return reaction;
}

Reaction limited(std::string retry_after) {
    Reaction reaction = answer(429, "slow down");
    reaction.retry_after = std::move(retry_after);
    return reaction;
}

Reaction unauthorized() { return answer(401, "invalid api key"); }

Reaction unavailable() { return answer(503, "try again later"); }

Reaction html(int status) { return answer(status, "<html>bad gateway</html>"); }

Reaction lost() {
    Reaction reaction;
    reaction.lost = true;
    return reaction;
}

Reaction refused() {
    Reaction reaction;
    reaction.refused = true;
    return reaction;
}

Reaction hangs() {
    Reaction reaction;
    reaction.hangs = true;
    return reaction;
}

Reaction ScriptedTransport::react(const Sent& message) {
    const Script& script = scripts_.at(message.upstream);
    if (!message.body.starts_with('[')) {
        return script(message);
    }
    if (const auto own = arrays_.find(message.upstream); own != arrays_.end()) {
        return own->second(message);
    }
    Reaction all;
    const std::size_t count = jsonrpc::element_count(message.body);
    for (std::size_t i = 0; i < count; ++i) {
        Sent call = message;
        call.body = std::string(jsonrpc::element(message.body, i));
        const Reaction one = script(call);
        if (one.status != 200 || one.lost || one.refused || one.hangs) {
            return one;
        }
        all.delay = std::max(all.delay, one.delay);
        all.body += (i == 0 ? '[' : ',') + with_id(one.body, jsonrpc::member(call.body, "id"));
    }
    all.body += ']';
    return all;
}

runtime::Task<upstream::TransportResult> ScriptedTransport::send(const upstream::Attempt& attempt) {
    Sent message{.upstream = attempt.upstream, .body = {}, .connection = attempt.connection};
    for (const std::string_view piece : attempt.body) {
        message.body += piece;
    }
    sent.push_back(message);
    const Reaction reaction = react(message);
    if (reaction.refused) {
        co_return failure(Cause::connect_failed, TransportFailure::Sent::nothing);
    }
    Pause pause(worker_.io);
    if (attempt.cancellation != nullptr) {
        attempt.cancellation->hook(&pause);
    }
    const core::TimePoint wanted =
        reaction.hangs ? core::TimePoint::max() : worker_.clock.now() + reaction.delay;
    const core::TimePoint until = std::min(wanted, attempt.deadline);
    // Timers know the real time only, which a test may be ahead of.
    const core::Duration ahead = worker_.clock.now() - core::TimePoint::clock::now();
    const bool cancelled = co_await pause.until(
        until == core::TimePoint::max() ? until : until - std::max(ahead, core::Duration::zero()));
    if (attempt.cancellation != nullptr) {
        attempt.cancellation->hook(nullptr);
    }
    if (cancelled) {
        co_return failure(Cause::connection_lost, TransportFailure::Sent::something);
    }
    if (until == attempt.deadline && until < wanted) {
        co_return failure(Cause::timeout, TransportFailure::Sent::something);
    }
    if (reaction.lost) {
        co_return failure(Cause::connection_lost, TransportFailure::Sent::something);
    }
    const std::string id(jsonrpc::member(message.body, "id"));
    const std::string body = with_id(reaction.body, id);
    upstream::TransportReply reply{.head = {.status = reaction.status,
                                            .retry_after = reaction.retry_after,
                                            .date = reaction.date},
                                   .body = runtime::Buffer(worker_.buffers),
                                   .rest = nullptr,
                                   .at = worker_.clock.now()};
    const std::size_t whole = std::min(body.size(), attempt.reply_buffer);
    if (!reply.body.append(std::string_view(body).substr(0, whole))) {
        co_return failure(Cause::bad_reply, TransportFailure::Sent::something);
    }
    if (whole < body.size()) {
        reply.rest = std::make_unique<ScriptedRest>(
            body.substr(whole), std::max<std::size_t>(reaction.piece, 1), reaction.breaks_off);
    }
    co_return reply;
}

std::size_t ScriptedTransport::count(routing::UpstreamIndex upstream) const {
    return static_cast<std::size_t>(std::count_if(
        sent.begin(), sent.end(), [&](const Sent& one) { return one.upstream == upstream; }));
}

}  // namespace weir::test
