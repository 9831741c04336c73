#include "config/load.hpp"

#include "loading.hpp"
#include "support/catch.hpp"

#include <cstdio>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace weir::config;
using namespace weir::config::testing;
using namespace std::chrono_literals;

TEST_CASE("the smallest file") {
    const auto loaded = load(
        "chains: [{chain_id: 1, upstreams: [{url: http://a}, {url: http://b}]}]", environment());
    REQUIRE(lines(loaded).empty());
    REQUIRE(loaded->chains.size() == 1);
    const Chain& chain = loaded->chains[0];
    CHECK(chain.name == "ethereum");
    CHECK(chain.chain_id == 1);
    CHECK_FALSE(chain.is_default);
    CHECK_FALSE(chain.head.poll_interval);
    CHECK_FALSE(chain.block_time);
    CHECK(chain.deny_methods.size() == 9);
    REQUIRE(chain.upstreams.size() == 2);
    CHECK(chain.upstreams[0].name == "upstream-1");
    CHECK(chain.upstreams[1].name == "upstream-2");
    CHECK(chain.upstreams[1].url.host == "b");
    CHECK(loaded->server.listen == std::vector<Endpoint>{{"127.0.0.1", 8545}});
    CHECK(loaded->secrets.empty());
}

TEST_CASE("every key reaches its member") {
    const auto loaded = load(R"(
server:
  listen: ["127.0.0.1:1", "[::1]:2"]
  threads: 3
  allowed_hosts: [Rpc.Example, 10.0.0.1]
  cors_origins: ["https://app.example:443"]
  max_body: 1MiB
  max_batch: 10
  max_depth: 11
  max_header: 2KiB
  max_connections: 12
  max_in_flight: 13
  max_buffered: 64MiB
  header_timeout: 1s
  body_timeout: 2s
  idle_timeout: 3s
  drain_delay: 0s
  drain_timeout: 4s
admin: {listen: 127.0.0.1:3, token: admin-token-1}
log: {level: debug, format: text}
chains:
- name: base
  family: evm
  chain_id: 8453
  default: true
  block_time: 2s
  timeouts: {request: 5s, slow_request: 6s, attempt: 7s, connect: 8s}
  head: {poll_interval: 9s, chain_check_interval: 10s, max_lag_blocks: 0, max_lag_time: 11s, max_jump_blocks: 12}
  reads: {max_attempts: 2, hedge: off}
  circuit: {failures: 3, open_for: 4s}
  reply_buffer: 2MiB
  max_reply: 4MiB
  methods: {deny: [], reads: [alchemy_*]}
  upstreams:
  - name: One
    url: https://u:p@a.example:444/x
    tier: 2
    weight: 0.5
    headers: {X-Token: "a b", X-Other: c}
    tls: {server_name: b.example, insecure: true}
    max_in_flight: 5
    methods: {allow: [eth_*], deny: [eth_call]}
- chain_id: 10
  head: {poll_interval: auto}
  upstreams: [{url: https://a.example}]
)",
                             environment());
    REQUIRE(lines(loaded).empty());
    const Server& server = loaded->server;
    CHECK(server.listen == std::vector<Endpoint>{{"127.0.0.1", 1}, {"::1", 2}});
    CHECK(server.threads == 3);
    CHECK(server.allowed_hosts == std::vector<std::string>{"rpc.example", "10.0.0.1"});
    CHECK(server.cors_origins == std::vector<std::string>{"https://app.example"});
    CHECK(server.max_body == kMiB);
    CHECK(server.max_batch == 10);
    CHECK(server.max_depth == 11);
    CHECK(server.max_header == 2 * kKiB);
    CHECK(server.max_connections == 12);
    CHECK(server.max_in_flight == 13);
    CHECK(server.max_buffered == 64 * kMiB);
    CHECK(server.header_timeout == 1s);
    CHECK(server.body_timeout == 2s);
    CHECK(server.idle_timeout == 3s);
    CHECK(server.drain_delay == 0s);
    CHECK(server.drain_timeout == 4s);
    CHECK(loaded->admin.listen == Endpoint{"127.0.0.1", 3});
    CHECK(loaded->admin.token.reveal() == "admin-token-1");
    CHECK(loaded->log.level == LogLevel::debug);
    CHECK(loaded->log.format == LogFormat::text);
    REQUIRE(loaded->chains.size() == 2);
    const Chain& chain = loaded->chains[0];
    CHECK(chain.name == "base");
    CHECK(chain.chain_id == 8453);
    CHECK(chain.is_default);
    CHECK(chain.block_time == weir::core::Duration(2s));
    CHECK(chain.timeouts.request == 5s);
    CHECK(chain.timeouts.slow_request == 6s);
    CHECK(chain.timeouts.attempt == 7s);
    CHECK(chain.timeouts.connect == 8s);
    CHECK(chain.head.poll_interval == weir::core::Duration(9s));
    CHECK(chain.head.chain_check_interval == 10s);
    CHECK(chain.head.max_lag_blocks == 0);
    CHECK(chain.head.max_lag_time == 11s);
    CHECK(chain.head.max_jump_blocks == 12);
    CHECK(chain.reads.max_attempts == 2);
    CHECK(chain.circuit.failures == 3);
    CHECK(chain.circuit.open_for == 4s);
    CHECK(chain.reply_buffer == 2 * kMiB);
    CHECK(chain.max_reply == 4 * kMiB);
    CHECK(chain.deny_methods.empty());
    CHECK(chain.read_methods == std::vector<std::string>{"alchemy_*"});
    REQUIRE(chain.upstreams.size() == 1);
    const Upstream& upstream = chain.upstreams[0];
    CHECK(upstream.name == "One");
    CHECK(upstream.url.port == 444);
    CHECK(upstream.tier == 2);
    CHECK(upstream.weight == 0.5);
    REQUIRE(upstream.headers.size() == 2);
    CHECK(upstream.headers[0].first == "X-Token");
    CHECK(upstream.headers[0].second.reveal() == "a b");
    CHECK(upstream.tls.server_name == "b.example");
    CHECK(upstream.tls.insecure);
    CHECK(upstream.max_in_flight == 5);
    CHECK(upstream.methods.allow == std::vector<std::string>{"eth_*"});
    CHECK(upstream.methods.deny == std::vector<std::string>{"eth_call"});
    CHECK(loaded->chains[1].name == "chain-10");
    CHECK_FALSE(loaded->chains[1].head.poll_interval);
}

TEST_CASE("values come from the environment") {
    const auto loaded = load(
        "server: {listen: '${LISTEN:-127.0.0.1:7}', threads: '${THREADS}'}\n"
        "chains: [{chain_id: '${ID}', upstreams: [{url: '${URL}/v2/${KEY}'}]}]",
        environment(
            {{"THREADS", "2"}, {"ID", "10"}, {"URL", "https://a.example"}, {"KEY", "k3y"}}));
    REQUIRE(lines(loaded).empty());
    CHECK(loaded->server.listen == std::vector<Endpoint>{{"127.0.0.1", 7}});
    CHECK(loaded->server.threads == 2);
    CHECK(loaded->chains[0].chain_id == 10);
    CHECK(loaded->chains[0].upstreams[0].url.target.reveal() == "/v2/k3y");
}

TEST_CASE("one chain from flags alone") {
    Flags flags;
    flags.chain_id = "1";
    flags.upstreams = {"https://a.example/v2/${KEY}", "http://b.example"};
    flags.listen = {"127.0.0.1:${PORT:-1}", "[::1]:2"};
    flags.admin = "127.0.0.1:3";
    const auto loaded = from_flags(flags, environment({{"KEY", "0123456789"}}));
    REQUIRE(lines(loaded).empty());
    CHECK(loaded->server.listen == std::vector<Endpoint>{{"127.0.0.1", 1}, {"::1", 2}});
    CHECK(loaded->admin.listen == Endpoint{"127.0.0.1", 3});
    REQUIRE(loaded->chains.size() == 1);
    CHECK(loaded->chains[0].name == "ethereum");
    REQUIRE(loaded->chains[0].upstreams.size() == 2);
    CHECK(loaded->chains[0].upstreams[0].name == "upstream-1");
    CHECK(loaded->chains[0].upstreams[0].url.target.reveal() == "/v2/0123456789");
    CHECK_FALSE(loaded->secrets.empty());
}

TEST_CASE("problems of flags name the flag") {
    Flags flags;
    flags.chain_id = "0x1";
    flags.upstreams = {"https://a.example", "a.example/0123456789", "https://${NO}.example"};
    flags.listen = {"127.0.0.1:1", "8545"};
    flags.admin = "${ALSO_NO}";
    CHECK(lines(from_flags(flags, environment())) ==
          std::vector<std::string>{
              "--listen[1]: must be ADDRESS:PORT, such as 127.0.0.1:8545, [::1]:8545 or "
              "localhost:8545",
              "--admin: the environment variable ALSO_NO is not set",
              "--chain-id: must be a whole number, 1 or more",
              "--upstream[1]: must be an absolute http or https URL",
              "--upstream[2]: the environment variable NO is not set"});
    CHECK(lines(from_flags({}, environment())) ==
          std::vector<std::string>{"--chain-id: is missing"});
}

TEST_CASE("flags beside a file") {
    Flags flags;
    flags.admin = "127.0.0.1:3";
    flags.listen = {"127.0.0.1:4"};
    SECTION("addresses replace the file's") {
        const auto loaded = load(with_chain("server: {listen: 127.0.0.1:1}\n"
                                            "admin: {listen: 127.0.0.1:2}"),
                                 environment(), flags);
        REQUIRE(lines(loaded).empty());
        CHECK(loaded->server.listen == std::vector<Endpoint>{{"127.0.0.1", 4}});
        CHECK(loaded->admin.listen == Endpoint{"127.0.0.1", 3});
    }
    SECTION("an address that is taken") {
        flags.listen = {"127.0.0.1:9545"};
        CHECK(lines(load(with_chain(""), environment(), flags)).empty());
        flags.admin.reset();
        CHECK(lines(load(with_chain(""), environment(), flags)) ==
              std::vector<std::string>{"admin.listen: is already taken by --listen"});
        flags.listen.push_back("0.0.0.0:9545");
        flags.admin = "127.0.0.1:9545";
        CHECK(lines(load(with_chain(""), environment(), flags)) ==
              std::vector<std::string>{"--listen[1]: is already taken by --listen[0]",
                                       "--admin: is already taken by --listen[0]"});
    }
    SECTION("a chain is one more") {
        flags.chain_id = "10";
        flags.upstreams = {"https://b.example"};
        const auto loaded = load(with_chain(""), environment(), flags);
        REQUIRE(lines(loaded).empty());
        REQUIRE(loaded->chains.size() == 2);
        CHECK(loaded->chains[1].name == "chain-10");
        const auto alone = load("log: {level: warn}", environment(), flags);
        REQUIRE(lines(alone).empty());
        CHECK(alone->chains.size() == 1);
    }
    SECTION("a chain that the file has already") {
        flags.chain_id = "1";
        flags.upstreams = {"https://b.example"};
        CHECK(lines(load(with_chain(""), environment(), flags)) ==
              std::vector<std::string>{"--chain-id: is already the chain id of chains[0]"});
    }
}

TEST_CASE("files are read, or the reason told") {
    const auto path = [](const std::string& name) {
        return "/tmp/weir_load_test_" + std::to_string(getpid()) + "_" + name;
    };
    const std::string good = path("good.yaml");
    const std::string ca = path("ca.pem");
    const auto write = [](const std::string& file, const std::string& text) {
        std::ofstream(file, std::ios::binary) << text;
    };
    write(good, with_chain(""));
    CHECK(lines(load_file(good, environment())).empty());

    const std::string with_ca = with_upstream("tls: {ca_file: " + ca + "}");
    write(good, with_ca);
    const std::string names = "chains[0].upstreams[0].tls.ca_file: names a file that ";
    CHECK(lines(load_file(good, environment())) ==
          std::vector<std::string>{names + "cannot be read: No such file or directory"});
    write(ca, "");
    CHECK(lines(load_file(good, environment())) == std::vector<std::string>{names + "is empty"});
    write(ca, "certificate");
    CHECK(lines(load_file(good, environment())).empty());

    std::remove(good.c_str());
    std::remove(ca.c_str());
    CHECK(lines(load_file(good, environment())) ==
          std::vector<std::string>{good + ": cannot be read: No such file or directory"});
    CHECK(lines(load_file("/tmp", environment())) ==
          std::vector<std::string>{"/tmp: cannot be read: Is a directory"});
    CHECK(lines(load_file("/dev/zero", environment())) ==
          std::vector<std::string>{"larger than 1 MiB"});
    CHECK(lines(load_file("/dev/null", environment())) ==
          std::vector<std::string>{"the file holds no configuration"});
}

TEST_CASE("what is no regular file holds nothing up") {
    const std::string base = "/tmp/weir_load_test_" + std::to_string(getpid());
    const std::string fifo = base + "_fifo";
    const std::string file = base + "_names.yaml";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    const auto problems_of = [&](const std::string& yaml) {
        std::ofstream(file, std::ios::binary) << yaml;
        return lines(load_file(file, environment()));
    };
    const std::string no_file = "is not a regular file (a pipe, a device or a socket)";
    CHECK(lines(load_file(fifo, environment(), {}, FileKind::regular)) ==
          std::vector<std::string>{fifo + ": " + no_file});
    CHECK(lines(load_file("/dev/zero", environment(), {}, FileKind::regular)) ==
          std::vector<std::string>{"/dev/zero: " + no_file});
    CHECK(problems_of(with_chain("providers_file: " + fifo)) ==
          std::vector<std::string>{"providers_file: " + no_file});
    CHECK(problems_of(with_upstream("tls: {ca_file: " + fifo + "}")) ==
          std::vector<std::string>{"chains[0].upstreams[0].tls.ca_file: names a file that " +
                                   no_file});
    CHECK(problems_of(with_chain("server: {tls: {certificate: " + fifo + ", private_key: " + fifo +
                                 "}}")) ==
          std::vector<std::string>{"server.tls.certificate: names a file that " + no_file,
                                   "server.tls.private_key: names a file that " + no_file});
    // A program that does nothing else yet may wait for who writes: `--config <(...)`.
    std::thread writer([&] { std::ofstream(fifo) << with_chain(""); });
    CHECK(lines(load_file(fifo, environment())).empty());
    writer.join();
    std::remove(fifo.c_str());
    std::remove(file.c_str());
}
