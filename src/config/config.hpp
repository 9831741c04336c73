// What an operator can set: plain structs with their defaults. Loaded and judged by load.hpp.
#pragma once

#include "config/providers.hpp"
#include "core/secret.hpp"
#include "core/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::config {

using core::Duration;
using core::Secret;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

// An address to listen on: an IP literal (v6 without brackets) or `localhost`, and a port; port 0
// asks the system for a free one.
struct Endpoint {
    std::string host;
    std::uint16_t port = 0;

    bool is_loopback() const;
    std::string to_string() const;  // `127.0.0.1:8545`, `[::1]:8545`
    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// Files in PEM; without a certificate the listener is plain HTTP.
struct ListenerTls {
    std::string certificate;  // its own first, then those that lead to an authority
    std::string private_key;

    friend bool operator==(const ListenerTls&, const ListenerTls&) = default;
};

struct Server {
    std::vector<Endpoint> listen = {{"127.0.0.1", 8545}};
    unsigned threads = 0;  // 0: the CPUs this process may use
    ListenerTls tls;
    std::vector<std::string> allowed_hosts;
    std::vector<std::string> cors_origins;
    std::vector<std::string> trusted_proxies;  // CIDRs; peers whose X-Forwarded-For is believed
    std::size_t max_body = 5 * kMiB;
    std::size_t max_batch = 1000;
    std::size_t max_depth = 512;
    std::size_t max_header = 16 * kKiB;
    std::size_t max_connections = 10000;
    std::size_t max_in_flight = 4096;
    std::size_t max_buffered = 512 * kMiB;
    Duration header_timeout = seconds(10);
    Duration body_timeout = seconds(30);
    Duration idle_timeout = seconds(75);
    Duration drain_delay = seconds(5);
    Duration drain_timeout = seconds(20);
    friend bool operator==(const Server&, const Server&) = default;
};

struct Admin {
    Endpoint listen = {"127.0.0.1", 9545};
    Secret token;
    friend bool operator==(const Admin&, const Admin&) = default;
};

enum class LogLevel { trace, debug, info, warn, error, off };
enum class LogFormat { json, text };

struct Log {
    LogLevel level = LogLevel::info;
    LogFormat format = LogFormat::json;
    double sample = 1;            // of the lines of requests that went well
    Secret correlation_key = {};  // of the keyed hashes in records of coherent reads
    friend bool operator==(const Log&, const Log&) = default;
};

struct Timeouts {
    Duration request = seconds(8);
    Duration slow_request = seconds(60);  // logs, traces, proofs, simulations
    Duration attempt = seconds(3);
    Duration connect = milliseconds(1500);
    friend bool operator==(const Timeouts&, const Timeouts&) = default;
};

struct Head {
    std::optional<Duration> poll_interval;  // empty: auto
    Duration chain_check_interval = seconds(60);
    std::uint64_t max_lag_blocks = 3;
    Duration max_lag_time = seconds(60);
    std::uint64_t max_jump_blocks = 64;
    friend bool operator==(const Head&, const Head&) = default;
};

// When a read that has no answer yet is asked elsewhere as well, before it is late.
struct Hedge {
    enum class Kind : std::uint8_t { off, automatic, after } kind = Kind::off;
    Duration delay{};  // for Kind::after
    friend bool operator==(const Hedge&, const Hedge&) = default;
};

struct Reads {
    unsigned max_attempts = 4;
    Hedge hedge;
    friend bool operator==(const Reads&, const Reads&) = default;
};

// A block that every upstream of the chain must have.
struct Checkpoint {
    std::uint64_t number = 0;
    std::string hash;  // `0x` and 64 small digits; empty: none is set
    friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// How many recent blocks' state an upstream keeps.
struct History {
    enum class Kind : std::uint8_t { automatic, archive, blocks } kind = Kind::automatic;
    std::uint64_t blocks = 0;  // for Kind::blocks
    friend bool operator==(const History&, const History&) = default;
};

struct Writes {
    Duration reconcile_timeout = seconds(4);  // for finding out what became of a lost reply
    Duration record_ttl = std::chrono::hours(1);
    friend bool operator==(const Writes&, const Writes&) = default;
};

// How long calls and clients are made to wait where providers say that they are asked too much.
struct RateLimits {
    Duration max_wait = seconds(3);          // a call in the queue, in all; zero: never
    Duration max_retry_after = seconds(30);  // what a client is told
    Duration max_cooldown = minutes(10);     // what a provider is believed
    Duration default_cooldown = seconds(1);  // where a provider names no wait
    friend bool operator==(const RateLimits&, const RateLimits&) = default;
};

struct Circuit {
    unsigned failures = 5;
    Duration open_for = seconds(10);
    friend bool operator==(const Circuit&, const Circuit&) = default;
};

struct UpstreamTls {
    std::string ca_file;      // empty: the system's store
    std::string server_name;  // empty: the URL's host
    bool insecure = false;    // no verification at all
    friend bool operator==(const UpstreamTls&, const UpstreamTls&) = default;
};

// An absolute http or https URL, taken apart. Prints as its host only.
struct Url {
    bool tls = false;
    std::string host;        // IP literal (v6 without brackets) or DNS name, in lower case
    std::string label;       // the host for people to see; a piece of it from `${...}` is `***`
    std::uint16_t port = 0;  // explicit or the scheme's
    Secret target;           // path and query as they go on the wire, at least "/"
    Secret authorization;    // value for an Authorization header, from the user-info; may be empty

    std::string host_header() const;  // with the port where it is not the scheme's
    friend bool operator==(const Url&, const Url&) = default;
};

struct Methods {
    std::vector<std::string> deny;
    std::vector<std::string> allow;  // upstreams only; empty: all
    friend bool operator==(const Methods&, const Methods&) = default;
};

// How fast a client may call, on all chains together.
struct ClientRate {
    double calls_per_second = 0;              // 0: not limited
    std::optional<std::uint64_t> burst = {};  // calls; empty: one second's worth

    friend bool operator==(const ClientRate&, const ClientRate&) = default;
};

constexpr std::size_t kMinTokenLength = 16;

// One who may use the gateway.
struct Client {
    std::string name;
    std::vector<Secret> tokens;  // any of them; two while one takes the other's place
    Secret token;                // as written; one of `tokens` once loaded
    ClientRate rate;
    Methods methods;
    friend bool operator==(const Client&, const Client&) = default;
};

// Whoever uses an open gateway; nobody else can have this name.
constexpr const char* kAnonymous = "anonymous";

// What a provider grants. 0: not limited.
struct Rate {
    double calls_per_second = 0;
    double units_per_second = 0;              // in the provider's own units
    std::optional<std::uint64_t> burst = {};  // calls; empty: one second's worth
    std::uint64_t units_per_day = 0;          // renewed at 00:00 UTC
    friend bool operator==(const Rate&, const Rate&) = default;
};

// Arrays of calls that go upstream.
struct UpstreamBatch {
    std::size_t max_calls =
        0;  // in one array; 1: no arrays; 0: what the profile says, or is learned
    friend bool operator==(const UpstreamBatch&, const UpstreamBatch&) = default;
};

struct ChainBatch {
    std::size_t max_upstream_calls = 100;  // in one array to any upstream
    bool pin_block = false;                // all reads of a batch show one block
    friend bool operator==(const ChainBatch&, const ChainBatch&) = default;
};

struct Upstream {
    std::string name;
    Url url;
    std::string provider;  // a profile's name
    unsigned tier = 0;
    double weight = 1;
    std::vector<std::pair<std::string, Secret>> headers;
    UpstreamTls tls;
    UpstreamBatch batch;
    Rate rate;
    std::size_t max_in_flight = 256;
    History history;
    Methods methods;
    friend bool operator==(const Upstream&, const Upstream&) = default;
};

enum class Family { evm };

constexpr std::size_t kMaxUpstreams = 64;  // per chain

struct Chain {
    std::string name;
    Family family = Family::evm;
    std::uint64_t chain_id = 0;
    bool is_default = false;
    Checkpoint checkpoint;
    std::optional<Duration> block_time;
    Timeouts timeouts;
    Head head;
    Reads reads;
    Writes writes;
    RateLimits rate_limits;
    Circuit circuit;
    ChainBatch batch;
    std::size_t reply_buffer = 1 * kMiB;
    std::size_t max_reply = 128 * kMiB;
    std::vector<std::string> deny_methods = {"admin_*",     "engine_*",      "personal_*",
                                             "miner_*",     "debug_setHead", "debug_start*",
                                             "debug_stop*", "debug_write*",  "debug_set*"};
    std::vector<std::string> read_methods;  // further methods that only read
    std::vector<Upstream> upstreams;
    friend bool operator==(const Chain&, const Chain&) = default;
};

struct Config {
    Server server;
    Admin admin;
    Log log;
    std::string providers_file;   // empty: the built-in profiles
    std::vector<Client> clients;  // empty: everybody may use the gateway
    std::vector<Chain> chains;
    Providers providers;  // every profile; each upstream's provider is one of them

    // Every secret value met while loading, each also in its percent-encoded forms: values from
    // `${...}`, tokens, header values, URL user-info, query values, long path segments. Of eight
    // characters at least: shorter ones are too common to be blanked out of other text.
    std::vector<Secret> secrets;
};

}  // namespace weir::config
