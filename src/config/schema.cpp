#include "config/schema.hpp"

namespace weir::config {
namespace {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kGiB = 1024 * kMiB;

Section<ListenerTls> listener_tls_section() {
    return {
        field("certificate", &ListenerTls::certificate, file_path()),
        field("private_key", &ListenerTls::private_key, file_path()),
    };
}

Section<Server> server_section() {
    return {
        field("listen", &Server::listen, endpoints()),
        field("threads", &Server::threads, number<unsigned>(0, 1024)),
        object("tls", &Server::tls, listener_tls_section()),
        field("allowed_hosts", &Server::allowed_hosts, host_names()),
        field("cors_origins", &Server::cors_origins, origins()),
        field("trusted_proxies", &Server::trusted_proxies, networks()),
        field("max_body", &Server::max_body, size(1, kGiB)),
        field("max_batch", &Server::max_batch, number<std::size_t>(1, 1'000'000)),
        field("max_depth", &Server::max_depth, number<std::size_t>(1, 100'000)),
        field("max_header", &Server::max_header, size(kKiB, kMiB)),
        field("max_connections", &Server::max_connections, number<std::size_t>(1, 10'000'000)),
        field("max_in_flight", &Server::max_in_flight, number<std::size_t>(1, 10'000'000)),
        field("max_buffered", &Server::max_buffered, size(64 * kKiB, 1024 * kGiB)),
        field("header_timeout", &Server::header_timeout, duration()),
        field("body_timeout", &Server::body_timeout, duration()),
        field("idle_timeout", &Server::idle_timeout, duration()),
        field("drain_delay", &Server::drain_delay, duration(Zero::allowed)),
        field("drain_timeout", &Server::drain_timeout, duration(Zero::allowed)),
    };
}

Section<Admin> admin_section() {
    return {
        field("listen", &Admin::listen, endpoint()),
        field("token", &Admin::token, token()),
    };
}

Section<Log> log_section() {
    return {
        field("level", &Log::level, log_level()),
        field("format", &Log::format, log_format()),
        field("correlation_key", &Log::correlation_key, token()),
        field("sample", &Log::sample, share()),
    };
}

Section<ClientRate> client_rate_section() {
    return {
        field("calls_per_second", &ClientRate::calls_per_second, rate()),
        field("burst", &ClientRate::burst, burst()),
    };
}

Section<Methods> methods_section() {
    return {
        field("allow", &Methods::allow, method_patterns()),
        field("deny", &Methods::deny, method_patterns()),
    };
}

Section<Client> client_section() {
    return {
        field("name", &Client::name,
              name(is_upstream_name, "",
                   "must be letters, digits and . _ - with a letter or digit first, 64 at most"),
              Need::required),
        field("token", &Client::token, token()),
        field("tokens", &Client::tokens, tokens()),
        object("rate", &Client::rate, client_rate_section()),
        object("methods", &Client::methods, methods_section()),
    };
}

Section<Timeouts> timeouts_section() {
    return {
        field("request", &Timeouts::request, duration()),
        field("slow_request", &Timeouts::slow_request, duration()),
        field("attempt", &Timeouts::attempt, duration()),
        field("connect", &Timeouts::connect, duration()),
    };
}

Section<Head> head_section() {
    return {
        field("poll_interval", &Head::poll_interval, duration_or_auto()),
        field("chain_check_interval", &Head::chain_check_interval, duration()),
        field("max_lag_blocks", &Head::max_lag_blocks, number<std::uint64_t>(0, kUnbounded)),
        field("max_lag_time", &Head::max_lag_time, duration()),
        field("max_jump_blocks", &Head::max_jump_blocks, number<std::uint64_t>(1, kUnbounded)),
    };
}

Section<Checkpoint> checkpoint_section() {
    return {
        field("number", &Checkpoint::number, number<std::uint64_t>(0, kUnbounded)),
        field("hash", &Checkpoint::hash, block_hash()),
    };
}

Section<Reads> reads_section() {
    return {
        field("max_attempts", &Reads::max_attempts, number<unsigned>(1, 100)),
        field("hedge", &Reads::hedge, hedge()),
    };
}

Section<Writes> writes_section() {
    return {
        field("reconcile_timeout", &Writes::reconcile_timeout, duration()),
        field("record_ttl", &Writes::record_ttl, duration()),
    };
}

Section<RateLimits> rate_limits_section() {
    return {
        field("max_wait", &RateLimits::max_wait, duration(Zero::allowed)),
        field("max_retry_after", &RateLimits::max_retry_after, duration()),
        field("max_cooldown", &RateLimits::max_cooldown, duration()),
        field("default_cooldown", &RateLimits::default_cooldown, duration()),
    };
}

Section<Circuit> circuit_section() {
    return {
        field("failures", &Circuit::failures, number<unsigned>(1, 1'000'000)),
        field("open_for", &Circuit::open_for, duration()),
    };
}

Section<Chain> chain_methods_section() {
    return {
        field("deny", &Chain::deny_methods, method_patterns()),
        field("reads", &Chain::read_methods, method_patterns()),
    };
}

Section<UpstreamTls> upstream_tls_section() {
    return {
        field("ca_file", &UpstreamTls::ca_file, file_path()),
        field("server_name", &UpstreamTls::server_name, host_name()),
        field("insecure", &UpstreamTls::insecure, boolean()),
    };
}

Section<Rate> rate_section() {
    return {
        field("calls_per_second", &Rate::calls_per_second, rate()),
        field("units_per_second", &Rate::units_per_second, rate()),
        field("burst", &Rate::burst, burst()),
        field("units_per_day", &Rate::units_per_day, number<std::uint64_t>(0, kUnbounded)),
    };
}

Section<UpstreamBatch> upstream_batch_section() {
    return {
        field("max_calls", &UpstreamBatch::max_calls, array_size()),
    };
}

Section<ChainBatch> chain_batch_section() {
    return {
        field("max_upstream_calls", &ChainBatch::max_upstream_calls,
              number<std::size_t>(1, 100'000)),
        field("pin_block", &ChainBatch::pin_block, boolean()),
    };
}

Section<Upstream> upstream_section() {
    return {
        field("name", &Upstream::name,
              name(is_upstream_name, "upstream-N",
                   "must be letters, digits and . _ - with a letter or digit first, 64 at most")),
        field("url", &Upstream::url, url(), Need::required),
        field("provider", &Upstream::provider,
              name(is_upstream_name, "by host", "must be the name of a provider profile")),
        field("tier", &Upstream::tier, number<unsigned>(0, 1000)),
        field("weight", &Upstream::weight, weight()),
        field("headers", &Upstream::headers, headers()),
        object("tls", &Upstream::tls, upstream_tls_section()),
        object("batch", &Upstream::batch, upstream_batch_section()),
        object("rate", &Upstream::rate, rate_section()),
        field("history", &Upstream::history, history()),
        field("max_in_flight", &Upstream::max_in_flight, number<std::size_t>(1, 1'000'000)),
        object("methods", &Upstream::methods, methods_section()),
    };
}

Section<Chain> chain_section() {
    return {
        field("name", &Chain::name,
              name(is_chain_name, "ethereum, or chain-ID",
                   "must be small letters, digits and - with a letter first, 64 at most")),
        field("family", &Chain::family, family()),
        field("chain_id", &Chain::chain_id, number<std::uint64_t>(1, kUnbounded), Need::required),
        field("default", &Chain::is_default, boolean()),
        object("checkpoint", &Chain::checkpoint, checkpoint_section()),
        field("block_time", &Chain::block_time, learned_duration()),
        object("timeouts", &Chain::timeouts, timeouts_section()),
        object("head", &Chain::head, head_section()),
        object("reads", &Chain::reads, reads_section()),
        object("writes", &Chain::writes, writes_section()),
        object("rate_limits", &Chain::rate_limits, rate_limits_section()),
        object("circuit", &Chain::circuit, circuit_section()),
        object("batch", &Chain::batch, chain_batch_section()),
        field("reply_buffer", &Chain::reply_buffer, size(1, kGiB)),
        field("max_reply", &Chain::max_reply, size(1, 1024 * kGiB)),
        group("methods", chain_methods_section()),
        objects("upstreams", &Chain::upstreams, upstream_section(), Need::required),
    };
}

}  // namespace

Section<Config> file_section(Need chains) {
    return {
        object("server", &Config::server, server_section()),
        object("admin", &Config::admin, admin_section()),
        object("log", &Config::log, log_section()),
        field("providers_file", &Config::providers_file, file_path()),
        objects("clients", &Config::clients, client_section(), Need::optional),
        objects("chains", &Config::chains, chain_section(), chains),
    };
}

std::vector<Key> available_keys() { return keys_of(file_section(Need::required)); }

}  // namespace weir::config
