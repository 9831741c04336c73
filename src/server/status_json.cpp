#include "server/status_json.hpp"

#include "core/harmless.hpp"
#include "server/json_writer.hpp"
#include "server/timestamp.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace weir::server {
namespace {

double in_seconds(core::Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

double in_milliseconds(core::Duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

std::optional<double> latency(const std::optional<core::Duration>& value) {
    return value ? std::optional<double>(in_milliseconds(*value)) : std::nullopt;
}

void write_head(JsonWriter& out, const std::optional<chain::BlockId>& head,
                const std::optional<core::Duration>& age) {
    if (!head) {
        out.null();
        return;
    }
    out.open('{');
    out.key("number");
    out.value(head->number);
    out.key("hash");
    if (head->hash.empty()) {
        out.null();
    } else {
        out.value(head->hash);
    }
    if (age) {
        out.key("age_seconds");
        out.value(in_seconds(*age));
    }
    out.close('}');
}

void write_settled(JsonWriter& out, const chain::Settled& settled) {
    for (const chain::Tag tag : chain::kAllTags) {
        const std::optional<chain::TaggedBlock>& block = settled.get(tag);
        out.key(chain::to_string(tag));
        write_head(out, block ? std::optional(block->block) : std::nullopt, std::nullopt);
    }
}

// What it may be sent: by the second, and of its daily allowance.
void write_budget(JsonWriter& out, const upstream::UpstreamStatus& status) {
    out.key("rate");
    out.open('{');
    out.key("calls_per_second");
    out.value(status.calls_per_second);
    out.key("learned");
    out.truth(status.rate_is_learned);
    out.key("units_per_second");
    out.value(status.units_per_second > 0 ? std::optional(status.units_per_second) : std::nullopt);
    out.close('}');
    out.key("allowance");
    if (status.units_per_day == 0) {
        out.null();
        return;
    }
    out.open('{');
    out.key("units_per_day");
    out.value(status.units_per_day);
    out.key("used");
    out.value(allowance_used(status));
    out.key("renews_in_seconds");
    out.value(status.renews_in ? std::optional(in_seconds(*status.renews_in)) : std::nullopt);
    out.close('}');
}

void write_upstream(JsonWriter& out, const upstream::UpstreamStatus& status) {
    out.open('{');
    out.key("name");
    out.value(status.name);
    out.key("tier");
    out.value(status.tier);
    out.key("state");
    out.value(routing::to_string(status.state));
    out.key("reason");
    out.value(status.reason);
    out.key("head");
    write_head(out, status.head, std::nullopt);
    write_settled(out, status.settled);
    out.key("lag_blocks");
    out.value(status.lag_blocks);
    out.key("apart");
    out.truth(status.apart);
    out.key("score");
    out.value(status.score);
    out.key("success_rate");
    out.value(status.success_rate);
    out.key("throttled_share");
    out.value(status.throttled_share);
    out.key("latency_ms");
    out.open('{');
    out.key("p50");
    out.value(latency(status.latency_p50));
    out.key("p95");
    out.value(latency(status.latency_p95));
    out.close('}');
    out.key("in_flight");
    out.value(status.in_flight);
    out.key("batch_limit");
    if (status.batch_limit != 0) {
        out.value(status.batch_limit);
    } else {
        out.null();
    }
    out.key("cooldown_seconds");
    out.value(in_seconds(status.cooldown));
    out.key("units_today");
    out.value(status.units_today);
    write_budget(out, status);
    out.key("unsupported_methods");
    out.open('[');
    for (const std::string& method : status.unsupported_methods) {
        out.value(core::harmless(method));  // a client's word
    }
    out.close(']');
    out.key("unsupported_tags");
    out.open('[');
    for (const chain::Tag tag : status.unsupported_tags) {
        out.value(chain::to_string(tag));
    }
    out.close(']');
    out.close('}');
}

void write_latest(JsonWriter& out, const upstream::RecentTraffic::Latest& latest) {
    out.key("latest");
    out.open('{');
    out.key("seconds");
    out.value(in_seconds(latest.span));
    out.key("calls");
    out.value(latest.met.calls);
    out.key("limited");
    out.value(latest.met.limited);
    out.key("failed");
    out.value(latest.met.failed);
    out.key("gone");
    out.value(latest.met.gone);
    out.close('}');
}

// Who was told to wait by a rate of its own, in the last minute, and of that now.
void write_own_rates(JsonWriter& out, const std::vector<upstream::OwnRates::Client>& clients) {
    out.key("over_own_rate");
    out.open('[');
    for (const upstream::OwnRates::Client& client : clients) {
        out.open('{');
        out.key("client");
        out.value(client.name);
        out.key("calls");
        out.value(client.calls);
        out.key("latest");
        out.value(client.latest);
        out.close('}');
    }
    out.close(']');
}

// The calls that wait for their answer.
void write_in_flight(JsonWriter& out, const upstream::CallsInFlight::Seen& seen) {
    out.key("in_flight");
    out.open('{');
    out.key("calls");
    out.value(seen.calls);
    out.key("late");
    out.value(seen.late);
    out.key("oldest_seconds");
    out.value(seen.calls > 0 ? std::optional(in_seconds(seen.oldest)) : std::nullopt);
    out.close('}');
}

// The last minutes, oldest step first; the last step is under way. Of a chain also the last
// seconds, and whose rate it was.
void write_recent(JsonWriter& out, std::string_view name,
                  const std::vector<upstream::RecentTraffic::Step>& steps,
                  const ChainStatus* chain = nullptr) {
    using Step = upstream::RecentTraffic::Step;
    const auto list = [&](std::string_view key, auto value) {
        out.key(key);
        out.open('[');
        for (const Step& step : steps) {
            out.value(value(step));
        }
        out.close(']');
    };
    out.key(name);
    out.open('{');
    out.key("step_seconds");
    out.value(in_seconds(upstream::RecentTraffic::kStep));
    list("calls", [](const Step& step) { return step.calls; });
    list("limited", [](const Step& step) { return step.limited; });
    list("failed", [](const Step& step) { return step.failed; });
    list("gone", [](const Step& step) { return step.gone; });
    list("p50_ms", [](const Step& step) { return latency(step.p50); });
    list("p95_ms", [](const Step& step) { return latency(step.p95); });
    if (chain != nullptr) {
        write_latest(out, chain->latest);
        write_own_rates(out, chain->over_own_rate);
    }
    out.close('}');
}

void write_chain(JsonWriter& out, const ChainStatus& chain) {
    out.open('{');
    out.key("name");
    out.value(chain.name);
    out.key("chain_id");
    out.value(chain.chain_id);
    out.key("state");
    out.value(routing::to_string(chain.state));
    out.key("head");
    write_head(out, chain.head, chain.head_age);
    write_settled(out, chain.settled);
    out.key("upstreams");
    out.open('[');
    for (const upstream::UpstreamStatus& status : chain.upstreams) {
        write_upstream(out, status);
    }
    out.close(']');
    out.key("block_time_seconds");
    out.value(in_seconds(chain.block_time));
    write_in_flight(out, chain.in_flight);
    write_recent(out, "recent", chain.recent, &chain);
    out.close('}');
}

}  // namespace

std::optional<double> allowance_used(const upstream::UpstreamStatus& status) {
    if (status.units_per_day == 0) {
        return std::nullopt;
    }
    return std::min(
        1.0, static_cast<double>(status.units_today) / static_cast<double>(status.units_per_day));
}

std::string status_json(const DaemonStatus& status) {
    JsonWriter out;
    out.open('{');
    out.key("version");
    out.value(status.version);
    out.key("uptime_seconds");
    out.value(in_seconds(status.uptime));
    out.key("draining");
    out.truth(status.draining);
    out.key("chains");
    out.open('[');
    for (const ChainStatus& chain : status.chains) {
        write_chain(out, chain);
    }
    out.close(']');
    if (!status.unrouted.empty()) {
        write_recent(out, "unrouted", status.unrouted);
    }
    out.key("unknown_writes");
    out.open('[');
    for (const UnknownWrite& write : status.unknown_writes) {
        out.open('{');
        out.key("chain");
        out.value(write.chain);
        out.key("hash");
        if (write.hash.empty()) {
            out.null();
            out.key("method");
            out.value(write.method);
            out.key("upstream");
            out.value(write.upstream);
        } else {
            out.value(write.hash);
        }
        out.key("at");
        out.value(timestamp(write.at));
        out.close('}');
    }
    out.close(']');
    out.close('}');
    return out.take();
}

}  // namespace weir::server
