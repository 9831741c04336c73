#include "upstream/poller.hpp"

#include "support/catch.hpp"
#include "upstream/probe.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <deque>
#include <functional>
#include <map>
#include <string>

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using routing::Cause;
using routing::UpstreamState;

namespace {

constexpr std::uint64_t kChainId = 5;

// An upstream that answers from a script, or never.
struct Script {
    std::uint64_t chain_id = kChainId;
    std::uint64_t head = 100;
    enum class Mode {
        answer,
        refuse,
        lack,
        hang,
        throttle,
        unauthorized,
        garbage
    } mode = Mode::answer;
    bool closes_idle = false;  // a connection, just when it is used again
    bool closes_new = false;
    char checkpoint = 'c';  // the digit of that block's hash
    unsigned id_asked = 0;
    unsigned head_asked = 0;
    std::string settled;  // to questions for what is safe and finalized; empty: a block
    unsigned settled_asked = 0;

    unsigned asked() const { return id_asked + head_asked + settled_asked; }
};

class ScriptedTransport final : public Transport {
  public:
    ScriptedTransport(runtime::Worker& worker, std::size_t upstreams)
        : scripts(upstreams), worker_(worker) {}

    runtime::Task<TransportResult> send(const Attempt& attempt) override {
        Script& script = scripts[attempt.upstream];
        const std::string_view body = attempt.body[0];
        const bool asks_id = body.find("eth_chainId") != body.npos;
        const bool asks_settled =
            body.find("safe") != body.npos || body.find("finalized") != body.npos;
        ++(asks_id ? script.id_asked : asks_settled ? script.settled_asked : script.head_asked);
        ++sent;
        if (script.mode == Script::Mode::hang) {
            Hanging hanging(worker_.io);
            attempt.cancellation->hook(&hanging);
            const bool cut = co_await hanging.event.wait_until(attempt.deadline);
            attempt.cancellation->hook(nullptr);
            co_return routing::TransportFailure{cut ? Cause::connection_lost : Cause::timeout,
                                                routing::TransportFailure::Sent::something, "hung"};
        }
        const bool pooled = attempt.connection == Connection::pooled;
        if (pooled ? script.closes_idle : script.closes_new) {
            routing::TransportFailure failure{Cause::connection_lost,
                                              routing::TransportFailure::Sent::something, "closed"};
            failure.origin = pooled ? routing::TransportFailure::Origin::gateway
                                    : routing::TransportFailure::Origin::upstream;
            co_return failure;
        }
        if (script.mode == Script::Mode::refuse) {
            co_return routing::TransportFailure{
                Cause::connect_failed, routing::TransportFailure::Sent::nothing, "refused"};
        }
        if (script.mode == Script::Mode::lack) {
            co_return routing::TransportFailure{
                Cause::connect_failed, routing::TransportFailure::Sent::nothing, "no descriptors",
                routing::TransportFailure::Origin::no_room};
        }
        TransportReply reply{{}, runtime::Buffer(worker_.buffers), nullptr, worker_.clock.now()};
        reply.head.status = 200;
        std::string text = R"({"jsonrpc":"2.0","id":1,"result":)";
        if (script.mode == Script::Mode::throttle) {
            reply.head.status = 429;
            text = "slow down";
        } else if (script.mode == Script::Mode::unauthorized) {
            reply.head.status = 401;
            text = "who are you";
        } else if (script.mode == Script::Mode::garbage) {
            text = "<html>";
        } else if (asks_settled && !script.settled.empty()) {
            text = R"({"jsonrpc":"2.0","id":1,)" + script.settled + '}';
        } else if (asks_id) {
            text += '"' + quantity(script.chain_id) + "\"}";
        } else {
            // A block is asked for by its number at a checkpoint only.
            const bool latest = body.find("latest") != body.npos;
            text += R"({"number":")" + quantity(latest ? script.head : 7) + R"(","hash":"0x)" +
                    std::string(64, latest ? 'a' : script.checkpoint) + R"(","parentHash":"0x)" +
                    std::string(64, 'b') + R"(","timestamp":"0x10"}})";
        }
        static_cast<void>(reply.body.append(text));
        co_return reply;
    }

    std::deque<Script> scripts;
    unsigned sent = 0;

  private:
    struct Hanging final : Cancellation::Target {
        explicit Hanging(boost::asio::io_context& io) : event(io) {}
        void on_cancel() override { event.set(); }
        runtime::Event event;
    };

    static std::string quantity(std::uint64_t value) {
        char text[20];
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
        return text;
    }

    runtime::Worker& worker_;
};

// Everything a hundred times faster than in earnest.
PollPace quick() {
    PollPace pace;
    pace.shortest_auto = 10ms;
    pace.longest_auto = 20ms;
    pace.idle = 20s;
    pace.first_retry = 5ms;
    pace.longest_retry = 40ms;
    pace.longest_when_down = 20ms;
    pace.quarantine = 5ms;
    pace.settled = 60ms;
    pace.shortest_gap = 2ms;
    return pace;
}

config::Chain chain_of(std::size_t upstreams) {
    config::Chain chain;
    chain.name = "test";
    chain.chain_id = kChainId;
    chain.head.chain_check_interval = 20ms;
    chain.timeouts.attempt = 50ms;
    for (std::size_t i = 0; i < upstreams; ++i) {
        config::Upstream upstream;
        upstream.name = "u" + std::to_string(i);
        chain.upstreams.push_back(upstream);
    }
    return chain;
}

struct Fixture {
    explicit Fixture(std::size_t upstreams) : Fixture(chain_of(upstreams)) {}
    explicit Fixture(const config::Chain& chain)
        : transport(worker, chain.upstreams.size()),
          pool(chain, clock.now()),
          poller(worker, transport, {&pool}, providers, quick()) {}

    ~Fixture() {
        bool joined = false;
        boost::asio::co_spawn(worker.io.get_executor(), join(poller, joined),
                              boost::asio::detached);
        CHECK(until([&joined] { return joined; }));
    }

    static runtime::Task<> join(Poller& poller, bool& joined) {
        co_await poller.stop();
        joined = true;
    }

    // Runs the loop until the condition holds; false when it did not within a bound.
    bool until(const std::function<bool()>& condition) {
        const core::TimePoint bound = clock.now() + 5s;
        while (!condition()) {
            if (clock.now() > bound) {
                return false;
            }
            worker.io.restart();
            worker.io.run_for(2ms);
        }
        return true;
    }
    void run_for(core::Duration time) {
        const core::TimePoint end = clock.now() + time;
        static_cast<void>(until([this, end] { return clock.now() >= end; }));
    }

    UpstreamState state(std::size_t i) { return pool.snapshots().get()->upstreams[i].state; }

    runtime::SystemClock clock;
    runtime::SystemRandom random;
    runtime::MemoryBudget budget{64 * 1024 * 1024};
    runtime::Worker worker{0, clock, random, budget};
    ScriptedTransport transport;
    Pool pool;
    routing::ProviderBook providers{config::built_in_providers()};
    Poller poller;
};

}  // namespace

TEST_CASE("chain ids are read in every form that nodes use") {
    CHECK(read_chain_id("\"0x7a69\"") == 31337U);
    CHECK(read_chain_id("\"31337\"") == 31337U);
    CHECK(read_chain_id("31337") == 31337U);
    CHECK(read_chain_id("\"0xffffffffffffffff\"") == ~std::uint64_t{0});
    CHECK(read_chain_id("\"0x01\"") == 1U);
    CHECK(read_chain_id("\"0X1\"") == 1U);
    CHECK(read_chain_id("\"1\"") == 1U);
    CHECK(read_chain_id("1") == 1U);
    CHECK(read_chain_id("\"10\"") == 10U);  // decimal, never hex without its prefix
    CHECK(read_chain_id("\"0x10\"") == 16U);
    CHECK(read_chain_id("18446744073709551615") == ~std::uint64_t{0});
    for (const char* bad : {"", "null", "\"\"", "\"0x\"", "\"0x1ffffffffffffffff\"", "{}", "-1",
                            "\"mainnet\"", "1.5", "18446744073709551617", "1e0", "\"1 \"", "\" 1\"",
                            "\"+1\"", "\"0x-1\"", "\"0x1 \"", "\"1a\"", "true", "[1]"}) {
        INFO(bad);
        CHECK_FALSE(read_chain_id(bad).has_value());
    }
}

TEST_CASE("a block needs a number and a hash") {
    const std::string hash = "\"hash\":\"0x" + std::string(64, 'A') + "\"";
    const auto block = read_block("{\"number\":\"0x10\"," + hash + ",\"timestamp\":\"0x5\"}");
    REQUIRE(block.has_value());
    CHECK(block->latest.number == 16);
    CHECK(block->latest.hash == "0x" + std::string(64, 'a'));
    CHECK(block->timestamp == 5);
    CHECK(block->parent_hash.empty());
    for (const std::string& bad :
         {std::string("null"), std::string("[]"), std::string("{}"), "{" + hash + "}",
          std::string(R"({"number":"0x1"})"), std::string(R"({"number":"0x1","hash":"0x12"})"),
          "{\"number\":1," + hash + "}"}) {
        INFO(bad);
        CHECK_FALSE(read_block(bad).has_value());
    }
}

TEST_CASE("upstreams become fit, heads are followed, and everything stops") {
    Fixture f(2);
    f.poller.start();
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::fit && f.state(1) == f.state(0); }));
    CHECK(f.pool.snapshots().get()->head->number == 100);
    f.transport.scripts[0].head = f.transport.scripts[1].head = 103;
    CHECK(f.until([&f] { return f.pool.snapshots().get()->head->number == 103; }));
}

TEST_CASE("a wrong chain never serves, and comes back by itself") {
    Fixture f(2);
    f.transport.scripts[1].chain_id = 1;
    f.poller.start();
    CHECK(f.until([&f] { return f.state(1) == UpstreamState::wrong_chain; }));
    CHECK(f.transport.scripts[1].head_asked == 0);
    f.transport.scripts[1].chain_id = kChainId;
    CHECK(f.until([&f] { return f.state(1) == UpstreamState::fit; }));
    f.transport.scripts[1].chain_id = 1;  // changes while it runs
    CHECK(f.until([&f] { return f.state(1) == UpstreamState::wrong_chain; }));
}

TEST_CASE("with every upstream down it keeps asking, slower and slower, and heals") {
    Fixture f(1);
    f.transport.scripts[0].mode = Script::Mode::refuse;
    f.poller.start();
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::circuit_open; }));
    CHECK_FALSE(f.pool.has_been_fit());
    const unsigned before = f.transport.sent;
    f.run_for(200ms);
    CHECK(f.transport.sent - before < 40);  // 20 ms apart, less the jitter
    f.transport.scripts[0].mode = Script::Mode::answer;
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::fit; }));
    CHECK(f.pool.has_been_fit());
}

TEST_CASE("garbage and refused credentials keep an upstream out until they end") {
    const Script::Mode mode = GENERATE(Script::Mode::garbage, Script::Mode::unauthorized);
    Fixture f(1);
    f.transport.scripts[0].mode = mode;
    f.poller.start();
    CHECK(f.until([&f] {
        return f.state(0) == UpstreamState::auth_failed ||
               f.state(0) == UpstreamState::circuit_open;
    }));
    f.transport.scripts[0].mode = Script::Mode::answer;
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::fit; }));
}

TEST_CASE("a throttled upstream is not asked while it cools down") {
    Fixture f(1);
    f.transport.scripts[0].mode = Script::Mode::throttle;
    f.poller.start();
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::cooling_down; }));
    const unsigned before = f.transport.sent;
    f.run_for(300ms);  // the default cool-down is a second
    CHECK(f.transport.sent == before);
    f.transport.scripts[0].mode = Script::Mode::answer;
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::fit; }));
}

TEST_CASE("an idle connection that is closed just as a probe uses it is nobody's failure") {
    Fixture f(2);
    Script& script = f.transport.scripts[0];
    script.closes_idle = true;
    f.poller.start();
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::fit; }));
    CHECK(f.until([&] { return script.head_asked > 20; }));
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(f.pool.head_seen(0));
    script.closes_new = true;
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::circuit_open; }));
    CHECK(f.pool.status(f.clock.now())[0].reason == "too many failures (last: connection_lost)");
}

TEST_CASE("a lost connection leads to a check of who answers now") {
    config::Chain chain = chain_of(1);
    chain.head.chain_check_interval = 1h;
    Fixture f(chain);
    f.poller.start();
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::fit; }));
    CHECK(f.transport.scripts[0].id_asked == 1);
    f.transport.scripts[0].chain_id = 1;
    AttemptReport report;
    report.method = "eth_call";
    report.traits = &routing::find_method(report.method);
    report.verdict = {
        routing::Disposition::try_another, routing::Blame::upstream, Cause::connect_failed, {}};
    report.at = f.clock.now();
    f.pool.report(report);
    CHECK(f.state(0) == UpstreamState::unknown);
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::wrong_chain; }));
}

TEST_CASE(
    "an upstream that hangs is bounded by the attempt's time, and stop() does not wait for it") {
    config::Chain chain = chain_of(1);
    SECTION("bounded") {
        Fixture f(chain);
        f.transport.scripts[0].mode = Script::Mode::hang;
        f.poller.start();
        CHECK(f.until([&f] { return f.transport.sent >= 2; }));
        CHECK(f.state(0) != UpstreamState::fit);
    }
    SECTION("stopped") {
        chain.timeouts.attempt = 1h;
        Fixture f(chain);
        f.transport.scripts[0].mode = Script::Mode::hang;
        f.poller.start();
        CHECK(f.until([&f] { return f.transport.sent == 1; }));
    }
}

TEST_CASE("with a checkpoint an upstream is right only if it has that block") {
    config::Chain chain = chain_of(2);
    chain.checkpoint = {.number = 7, .hash = "0x" + std::string(64, 'c')};
    Fixture f(chain);
    f.transport.scripts[0].checkpoint = 'd';
    f.poller.start();
    CHECK(f.until([&f] { return f.state(1) == UpstreamState::fit; }));
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::wrong_chain; }));
    REQUIRE_FALSE(f.pool.disagreements().empty());
    CHECK(f.pool.disagreements().back().kind == chain::DisagreementKind::wrong_network);
    f.transport.scripts[0].checkpoint = 'c';
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::fit; }));
}

TEST_CASE("an answer to a client postpones the next poll, and one without a hash hastens it") {
    config::Chain chain = chain_of(1);
    chain.head.chain_check_interval = 1h;
    const bool configured = GENERATE(true, false);
    if (configured) {
        chain.head.poll_interval = 20ms;  // as often as by the block time
    }
    Fixture f(chain);
    f.poller.start();
    CHECK(f.until([&f] { return f.state(0) == UpstreamState::fit; }));
    Script& script = f.transport.scripts[0];
    const auto answer = [&f, &script](std::string hash) {
        chain::Observation shown;
        shown.latest = {script.head, std::move(hash)};
        shown.at = f.clock.now();
        f.pool.observe_answer(0, shown);
    };
    const auto polls_with = [&](const std::function<void()>& traffic) {
        const unsigned before = script.head_asked;
        for (int i = 0; i < 60; ++i) {
            traffic();
            f.run_for(5ms);
        }
        return script.head_asked - before;
    };
    const unsigned quiet = polls_with([] {});
    CHECK(quiet >= 8);
    // Rounds for what is safe and finalized ask for the head as well.
    CHECK(polls_with([&] { answer("0x" + std::string(64, 'a')); }) < quiet - 2);
    CHECK(polls_with([&] { answer(""); }) < quiet - 2);  // the known head once more
    const unsigned news = polls_with([&] {
        ++script.head;
        answer("");
    });
    CHECK((configured ? news <= quiet + 3 : news > quiet));
    CHECK(f.until([&f] { return f.pool.head_seen(0)->whole; }));
}

TEST_CASE("what is safe and finalized is asked now and then while clients call") {
    Fixture f(2);
    f.poller.start();
    const auto settled = [&f](std::size_t i) {
        return f.pool.snapshots().get()->upstreams[i].settled;
    };
    CHECK(f.until([&] { return settled(0).finalized && settled(1).safe; }));
    CHECK(settled(0).finalized->block.number == 7);
    CHECK(settled(0).finalized->block.hash == "0x" + std::string(64, 'c'));
    CHECK(f.pool.snapshots().get()->settled.finalized->block.number == 7);
    CHECK(f.pool.status(f.clock.now())[0].settled == settled(0));
    const Script& script = f.transport.scripts[0];
    const unsigned before = script.settled_asked;
    const core::TimePoint began = f.clock.now();
    CHECK(f.until([&] { return script.settled_asked >= before + 6; }));
    const double rounds = (f.clock.now() - began) / 60ms;
    CHECK(script.settled_asked - before <= 2 * (rounds + 1));
}

TEST_CASE("an upstream that has no such tag is noted for that and asked no more for long") {
    Fixture f(2);
    f.transport.scripts[0].settled = GENERATE(
        R"("result":null)", R"("error":{"code":-39001,"message":"Unknown block"})",
        R"("error":{"code":-32602,"message":"invalid argument 0: hex string without 0x prefix"})",
        R"("error":{"code":-32000,"message":"finalized block not found"})");
    f.poller.start();
    const auto status = [&f](std::size_t i) { return f.pool.status(f.clock.now())[i]; };
    CHECK(f.until([&] { return status(0).unsupported_tags.size() == 2; }));
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(f.until([&] { return f.pool.snapshots().get()->settled.finalized.has_value(); }));
    f.run_for(200ms);
    CHECK(f.transport.scripts[0].settled_asked == 2);
    CHECK(status(1).unsupported_tags.empty());
}

TEST_CASE("trouble with questions for what is settled makes no upstream ill") {
    Fixture f(1);
    f.transport.scripts[0].settled =
        GENERATE(R"("result":17)", R"("error":{"code":-32603,"message":"Internal error"})");
    f.poller.start();
    CHECK(f.until([&] { return f.transport.scripts[0].settled_asked >= 20; }));
    CHECK(f.state(0) == UpstreamState::fit);
    CHECK(f.pool.status(f.clock.now())[0].unsupported_tags.empty());
}

TEST_CASE("what the gateway itself lacks to ask makes no upstream ill") {
    Fixture f(1);
    f.poller.start();
    REQUIRE(f.until([&] { return f.state(0) == UpstreamState::fit; }));
    f.transport.scripts[0].mode = Script::Mode::lack;
    const unsigned before = f.transport.sent;
    CHECK(f.until([&] { return f.transport.sent >= before + 20; }));
    CHECK(f.state(0) == UpstreamState::fit);
    f.transport.scripts[0].mode = Script::Mode::refuse;
    CHECK(f.until([&] { return f.state(0) != UpstreamState::fit; }));
}

namespace {

// Time as the test says. It lies in the past of the machine's own clock, so that every wait ends at
// once and looks at this one again.
class PastClock final : public runtime::Clock {
  public:
    core::TimePoint now() const override { return time; }
    core::WallTime wall_now() const override {
        return core::WallTime(std::chrono::duration_cast<core::WallTime::duration>(
            time.time_since_epoch() + 400'000h));
    }
    core::TimePoint time{1s};
};

}  // namespace

TEST_CASE("an idle day costs an upstream under 3,000 probes") {
    PastClock clock;
    // As much of a day as the machine has been up for.
    const core::TimePoint end =
        clock.time +
        std::min<core::Duration>(24h, runtime::SystemClock().now() - core::TimePoint(1min));
    runtime::SystemRandom random;
    runtime::MemoryBudget budget{64 * 1024 * 1024};
    runtime::Worker worker{0, clock, random, budget};
    config::Chain chain = chain_of(1);
    chain.head = {};
    chain.timeouts = {};
    ScriptedTransport transport(worker, 1);
    Pool pool(chain, clock.time);
    const routing::ProviderBook providers{config::built_in_providers()};
    Poller poller(worker, transport, {&pool}, providers);
    poller.start();
    const core::TimePoint began = clock.time;
    while (clock.time < end) {
        clock.time += 2s;
        for (int step = 0; step < 16; ++step) {
            worker.io.restart();
            worker.io.poll_one();
        }
    }
    const double days = std::chrono::duration<double>(clock.time - began) / 24h;
    const double asked = transport.scripts[0].asked();
    CHECK(asked / days < 3000 + 20 / days);  // the first minute counts as traffic
    CHECK(transport.scripts[0].settled_asked == 2);
    CHECK(asked / days > 1000);
    CHECK(pool.snapshots().get()->upstreams[0].state == UpstreamState::fit);
    bool joined = false;
    boost::asio::co_spawn(worker.io.get_executor(), Fixture::join(poller, joined),
                          boost::asio::detached);
    for (int step = 0; step < 10'000 && !joined; ++step) {
        worker.io.restart();
        worker.io.poll_one();
    }
    CHECK(joined);
}
