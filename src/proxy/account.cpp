#include "proxy/account.hpp"

#include "proxy/client.hpp"

#include <chrono>

namespace weir::proxy {
namespace {

constexpr std::string_view kWell = "ok";
constexpr std::string_view kBrokenOff = "broken_off";

// A node's error, but one by which it failed: the call itself is not answered.
constexpr std::size_t kUpstreamError = 2 + kErrorTypes;

// The client left before its answer: it was told nothing, and nobody failed it.
constexpr std::size_t kClientGone = kUpstreamError + 1;

std::size_t outcome_number(ErrorType type) { return 2 + static_cast<std::size_t>(type); }

std::size_t outcome_number(const Answer& answer) {
    switch (answer.kind()) {
        case Answer::Kind::result:
        case Answer::Kind::long_result:
            return 0;
        case Answer::Kind::rpc_error:
            return answer.upstream_failed ? kUpstreamError : 1;
        case Answer::Kind::gateway_error:
            return outcome_number(answer.error().type);
    }
    return 1;
}

std::string_view outcome_name(std::size_t number) {
    if (number < 2) {
        return number == 0 ? kWell : "rpc_error";
    }
    if (number == kUpstreamError) {
        return "upstream_error";
    }
    return number == kClientGone ? "client_gone"
                                 : traits_of(static_cast<ErrorType>(number - 2)).name;
}

// Was it carried out, or may it have been? What became of it is so whoever hears of it.
bool is_sent_write(const BatchItem& item) {
    using routing::Access;
    if (item.answer == nullptr || item.plan->refusal) {
        return false;
    }
    const Access access = item.plan->access();
    const bool writes = access == Access::write || access == Access::broadcast;
    return writes && (item.answer->kind() != Answer::Kind::gateway_error ||
                      item.answer->error().type == ErrorType::broadcast_unknown);
}

// None for what is owed no answer.
std::optional<std::size_t> outcome_number(const BatchItem& item, Passed passed) {
    if (passed == Passed::client_gone && item.plan->is_owed_an_item() && !is_sent_write(item)) {
        return kClientGone;
    }
    return item.answer != nullptr ? std::optional(outcome_number(*item.answer)) : std::nullopt;
}

// Did whoever asked get what they came for, as far as that is the gateway's part?
upstream::RecentTraffic::End end_of(ErrorType type) {
    using End = upstream::RecentTraffic::End;
    switch (type) {
        case ErrorType::rate_limited:
            return End::limited;
        case ErrorType::quota_exhausted:  // no wait helps
        case ErrorType::no_upstream:
        case ErrorType::deadline:
        case ErrorType::bad_upstream_reply:
        case ErrorType::broadcast_unknown:
        case ErrorType::snapshot_unavailable:
        case ErrorType::overloaded:
            return End::failed;
        default:
            return End::served;
    }
}

upstream::RecentTraffic::End end_of(const BatchItem& item, std::size_t outcome) {
    using End = upstream::RecentTraffic::End;
    if (outcome == kClientGone) {
        return End::gone;
    }
    return item.answer->kind() == Answer::Kind::gateway_error ? end_of(item.answer->error().type)
           : item.answer->upstream_failed                     ? End::failed
                                                              : End::served;
}

bool is_cut_short(Passed passed) {
    return passed == Passed::broken_off || passed == Passed::given_up;
}

// A body in which no call was found, or was looked for, counts as one call.
void count_as_one_call(const ChainContext& chain, const Route& route, ErrorType type,
                       core::TimePoint now) {
    constexpr std::size_t kOtherMethod = 0;
    const std::size_t number = outcome_number(type);
    chain.meter.call(kOtherMethod, number);
    if (route.client != nullptr) {
        route.client->meters[route.chain].call(number);
    }
    chain.pool.traffic().add_call(end_of(type), now);
}

}  // namespace

std::vector<std::string> outcome_names() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i <= kClientGone; ++i) {
        names.emplace_back(outcome_name(i));
    }
    return names;
}

void account(Services& services, const ChainContext& chain, const Finished& finished) {
    using Scope = telemetry::ChainMeter::Scope;
    const Client& client = *finished.request.route.client;
    const core::Duration duration = finished.at - finished.request.received;
    upstream::RecentTraffic& traffic = chain.pool.traffic();
    auto time_class = telemetry::ChainMeter::TimeClass::fast;
    std::string_view outcome = is_cut_short(finished.passed) ? kBrokenOff : kWell;
    bool answered = false;  // by more than an error of the gateway's own
    if (finished.refusal) {
        outcome = traits_of(*finished.refusal).name;
        count_as_one_call(chain, finished.request.route, *finished.refusal, finished.at);
    }
    for (const BatchItem& item : finished.items) {
        const std::optional<std::size_t> number = outcome_number(item, finished.passed);
        if (!number) {
            continue;
        }
        answered = answered ||
                   (*number != kClientGone && item.answer->kind() != Answer::Kind::gateway_error);
        traffic.add_call(end_of(item, *number), finished.at);
        chain.meter.call(routing::method_number(*item.plan->traits), *number);
        item.plan->meter->call(*number);
        if (item.plan->traits->time_class == routing::TimeClass::slow) {
            time_class = telemetry::ChainMeter::TimeClass::slow;
        }
        if (*number == outcome_number(ErrorType::rate_limited)) {
            chain.meter.rate_limited(item.plan->refusal ? Scope::client : Scope::upstream);
            if (item.plan->refusal) {
                chain.pool.own_rates().add(client.name, finished.at);
            }
        }
        if (*number != 0 && !is_cut_short(finished.passed)) {
            outcome = outcome_name(*number);
        }
    }
    chain.meter.request(time_class, duration);
    if (answered) {
        traffic.add_request(duration, finished.at);
    }
    const bool skipped = outcome == kWell && !services.log.samples(services.worker.random.next());
    if (skipped || !services.log.enabled(config::LogLevel::info)) {
        return;
    }
    const double milliseconds = std::chrono::duration<double, std::milli>(duration).count();
    if (finished.items.empty()) {  // no calls that could be told of
        services.log.write(config::LogLevel::info, "request",
                           {{"request_id", finished.request.request_id},
                            {"peer", finished.request.peer},
                            {"client", client.name},
                            {"chain", chain.config.name},
                            {"status", static_cast<std::int64_t>(finished.head.status)},
                            {"outcome", outcome},
                            {"duration_ms", milliseconds}});
        return;
    }
    const bool single = finished.items.size() == 1;
    std::string_view upstream;
    if (single && finished.items[0].answer != nullptr && finished.items[0].answer->upstream) {
        upstream = chain.config.upstreams[*finished.items[0].answer->upstream].name;
    }
    services.log.write(
        config::LogLevel::info, "request",
        {{"request_id", finished.request.request_id},
         {"peer", finished.request.peer},
         {"client", client.name},
         {"chain", chain.config.name},
         {"method", single ? finished.items[0].plan->call->method : std::string_view("batch")},
         {"calls", static_cast<std::uint64_t>(finished.items.size())},
         {"status", static_cast<std::int64_t>(finished.head.status)},
         {"outcome", outcome},
         {"attempts", static_cast<std::uint64_t>(finished.head.attempts)},
         {"upstream", upstream},
         {"duration_ms", milliseconds}});
}

void account_refusal(Services& services, const ChainContext* chain, const Refused& request) {
    const GatewayError& error = request.error;
    const core::TimePoint now = services.worker.clock.now();
    if (chain != nullptr) {
        count_as_one_call(*chain, request.route, error.type, now);
    } else {
        services.metrics.refused(outcome_number(error.type));
        services.unrouted.add_call(end_of(error.type), now);
    }
    services.log.write(config::LogLevel::info, "request",
                       {{"request_id", request.request_id},
                        {"peer", request.peer},
                        {"status", static_cast<std::int64_t>(http_status_of(error))},
                        {"outcome", traits_of(error.type).name}});
}

}  // namespace weir::proxy
