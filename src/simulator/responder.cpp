#include "simulator/responder.hpp"

#include "jsonrpc/request.hpp"
#include "jsonrpc/value.hpp"

#include <algorithm>
#include <utility>

namespace weir::simulator {
namespace {

using jsonrpc::Call;
using jsonrpc::Request;

std::string_view id_of(const Call& call) { return call.id.empty() ? "null" : call.id; }

Reply json_reply(std::string body) {
    Reply reply;
    reply.body = std::move(body);
    return reply;
}

Packing packing_of(const Request& request) {
    return request.is_batch ? Packing::batch : Packing::single;
}

std::vector<std::string> ids_of(const Request& request) {
    std::vector<std::string> ids;
    for (const Call& call : request.calls) {
        ids.emplace_back(id_of(call));
    }
    return ids;
}

bool take_one(unsigned& count) {
    if (count == 0) {
        return false;
    }
    --count;
    return true;
}

}  // namespace

Responder::Responder(const SimulatedChain& chain, const runtime::Clock& clock, Script script,
                     std::uint64_t seed)
    : chain_(chain), clock_(clock), script_(std::move(script)), random_(seed) {}

Reaction Responder::react(const Message& message) {
    jsonrpc::RequestLimits limits;
    limits.max_batch = 100'000;
    const auto request = jsonrpc::parse_request(message.body, limits);
    const std::lock_guard lock(mutex_);
    record(message, request ? *request : Request{});
    if (!request) {
        Reply reply = json_reply(
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}})");
        reply.status = 400;
        return {{}, to_wire(std::move(reply), Framing::length, Crooked::none)};
    }
    Reaction reaction = react_to(*request);
    reaction.delay = delay_for(*request);
    return reaction;
}

Reaction Responder::react_to(const Request& request) {
    const bool faulty = concerned_by_faults(request);
    if (faulty && is_dropped()) {
        ++counts_.dropped;
        return {};
    }
    if (faulty && take_one(script_.faults.fail_next)) {
        return {{},
                to_wire(html_reply(script_.faults.fail_status), script_.framing, Crooked::none)};
    }
    if (is_throttled(static_cast<double>(request.calls.size()))) {
        ++counts_.throttled;
        Reply refusal = throttled_reply(script_.throttle, ids_of(request), packing_of(request),
                                        clock_.wall_now());
        return {{}, to_wire(std::move(refusal), script_.framing, Crooked::none)};
    }
    const std::size_t most = script_.batch.max_calls;
    if (request.is_batch && most != 0 && request.calls.size() > most) {
        if (script_.batch.refusal == BatchRefusal::silence) {
            Request begun = request;
            begun.calls.resize(most);
            return {{},
                    to_wire(json_reply(body_for(begun, Crooked::none)), script_.framing,
                            Crooked::none)};
        }
        return {{}, to_wire(batch_refused_reply(script_.batch), script_.framing, Crooked::none)};
    }
    const Crooked crooked = faulty ? take_crooked() : Crooked::none;
    return {{}, to_wire(json_reply(body_for(request, crooked)), script_.framing, crooked)};
}

void Responder::record(const Message& message, const Request& request) {
    ++counts_.requests;
    const std::size_t size = message.head.size() + message.body.size();
    if (messages_.size() < kKept && message_bytes_ + size <= kKeptBytes) {
        messages_.push_back(message);
        message_bytes_ += size;
    }
    constexpr std::size_t kMethods = 1000;  // a client may make up as many names as it likes
    for (const Call& call : request.calls) {
        const auto known = counts_.calls.find(call.method);
        if (known != counts_.calls.end()) {
            ++known->second;
        } else if (counts_.calls.size() < kMethods) {
            counts_.calls.emplace(std::string(call.method), 1);
        }
        if (call.method == "eth_sendRawTransaction" && raw_transactions_.size() < kKept) {
            raw_transactions_.push_back(
                jsonrpc::string_value(jsonrpc::element(call.params, 0)).value_or(""));
        }
    }
}

bool Responder::concerned_by_faults(const Request& request) const {
    const std::vector<std::string>& methods = script_.faults.methods;
    return methods.empty() ||
           std::any_of(request.calls.begin(), request.calls.end(), [&](const Call& call) {
               return std::find(methods.begin(), methods.end(), call.method) != methods.end();
           });
}

bool Responder::is_dropped() {
    ++seen_by_faults_;
    const unsigned every = script_.faults.drop_every;
    if (take_one(script_.faults.drop_next) || (every != 0 && seen_by_faults_ % every == 0)) {
        return true;
    }
    return script_.faults.drop_share > 0 &&
           std::uniform_real_distribution<>(0, 1)(random_) < script_.faults.drop_share;
}

// A token bucket over calls; a message that finds too few tokens takes none.
bool Responder::is_throttled(double calls) {
    const Throttle& throttle = script_.throttle;
    if (throttle.calls_per_second <= 0) {
        filled_.reset();
        return false;
    }
    const core::TimePoint now = clock_.now();
    const double burst = std::max(throttle.burst, 1.0);
    if (filled_) {
        const std::chrono::duration<double> since = now - *filled_;
        tokens_ = std::min(burst, tokens_ + since.count() * throttle.calls_per_second);
    } else {
        tokens_ = burst;
    }
    filled_ = now;
    if (tokens_ < calls) {
        return true;
    }
    tokens_ -= calls;
    return false;
}

core::Duration Responder::delay_for(const Request& request) {
    core::milliseconds delay{0};
    for (const Call& call : request.calls) {
        const auto own = script_.method_latency.find(std::string(call.method));
        delay =
            std::max(delay, own == script_.method_latency.end() ? script_.latency : own->second);
    }
    if (script_.jitter.count() > 0) {
        delay += core::milliseconds(
            std::uniform_int_distribution<std::int64_t>(0, script_.jitter.count())(random_));
    }
    return delay;
}

Crooked Responder::take_crooked() {
    Faults& faults = script_.faults;
    if (faults.crooked == Crooked::none ||
        (faults.crooked_next && !take_one(*faults.crooked_next))) {
        return Crooked::none;
    }
    return faults.crooked;
}

std::string Responder::body_for(const Request& request, Crooked crooked) {
    std::string out = request.is_batch ? "[" : "";
    for (const Call& call : request.calls) {
        if (out.size() > 1) {
            out += ',';
        }
        if (call.fault != jsonrpc::CallFault::none) {
            out +=
                crooked_body(id_of(call), R"("error":{"code":-32600,"message":"invalid request"})",
                             Crooked::none);
            continue;
        }
        const Answer answer = answer_call(call.method, call.params, script_, chain_, transactions_);
        const std::string_view name =
            answer.kind == Answer::Kind::result ? R"("result":)" : R"("error":)";
        out += crooked_body(id_of(call), std::string(name) + answer.value, crooked);
    }
    return request.is_batch ? out + "]" : out;
}

void Responder::connected() {
    const std::lock_guard lock(mutex_);
    ++counts_.connections;
}

Script Responder::script() const {
    const std::lock_guard lock(mutex_);
    return script_;
}

void Responder::change(const std::function<void(Script&)>& edit) {
    const std::lock_guard lock(mutex_);
    edit(script_);
}

Counts Responder::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

std::vector<Message> Responder::messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
}

std::vector<std::string> Responder::raw_transactions() const {
    const std::lock_guard lock(mutex_);
    return raw_transactions_;
}

}  // namespace weir::simulator
