// Upstreams that hang, and what a hedge may cost.
#include "component/handler_fixture.hpp"

#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;
using routing::UpstreamState;

namespace {

config::Config one_tier(std::size_t upstreams) {
    config::Config config = make_config(upstreams);
    for (config::Upstream& upstream : config.chains[0].upstreams) {
        upstream.tier = 0;
    }
    return config;
}

UpstreamState state_of(Fixture& f, std::size_t i) {
    return f.pools[0]->snapshots().get()->upstreams[i].state;
}

std::string balance(int account) {
    return call("1", "eth_getBalance", "[\"0x" + std::to_string(account) + "\",\"latest\"]");
}

}  // namespace

TEST_CASE("a hung upstream opens its circuit and gets no more, and no read is lost") {
    config::Config config = make_config(2);  // the one that hangs is of the lower tier
    config.chains[0].timeouts = {.request = 400ms, .attempt = 30ms};
    Fixture f(config);
    Reaction hung;
    hung.hangs = true;
    f.transport.on(0, hung);
    int asked = 0;
    while (state_of(f, 0) == UpstreamState::fit && asked < 40) {
        CHECK(f.ask(balance(asked++)).body.find("from 1") != std::string::npos);
    }
    CHECK(state_of(f, 0) == UpstreamState::circuit_open);
    CHECK(asked <= 6);
    const std::size_t before = f.transport.count(0);
    for (int i = 0; i < 20; ++i) {
        CHECK(f.ask(balance(100 + i)).body.find("from 1") != std::string::npos);
    }
    CHECK(f.transport.count(0) == before);
}

TEST_CASE("the same hanging call alone opens no circuit") {
    config::Config config = make_config(2);
    config.chains[0].timeouts = {.request = 400ms, .attempt = 30ms};
    Fixture f(config);
    Reaction hung;
    hung.hangs = true;
    f.transport.on(0, hung);
    for (int i = 0; i < 8; ++i) {
        f.ask(balance(1));
    }
    CHECK(state_of(f, 0) == UpstreamState::fit);
}

TEST_CASE("a fast upstream that rejects net_listening gets the traffic") {
    Fixture f(one_tier(2));
    f.transport.on(0, [](const Sent& message) {
        return message.body.find("net_listening") != std::string::npos
                   ? rpc_error(-32601, "the method net_listening does not exist")
                   : result("\"from 0\"");
    });
    Reaction slow = result("\"from 1\"");
    slow.delay = 40ms;
    f.transport.on(1, slow);
    for (int i = 0; i < 10; ++i) {
        CHECK(f.ask(call("1", "net_listening")).body.find("true") != std::string::npos);
        f.ask(balance(i));
        f.clock.pass(300ms);  // the scores are published anew
    }
    const std::size_t before = f.transport.count(0);
    for (int i = 0; i < 100; ++i) {
        f.ask(balance(i));
    }
    CHECK(f.transport.count(0) - before > 75);
    CHECK(state_of(f, 0) == UpstreamState::fit);
}

TEST_CASE("a hedge is a further attempt: none is sent when the retry budget is spent") {
    config::Config config = one_tier(2);
    config.chains[0].timeouts.attempt = 1s;
    config.chains[0].reads.hedge = {.kind = config::Hedge::Kind::after, .delay = 10ms};
    Fixture f(config);
    Reaction slow = result("\"slow\"");
    slow.delay = 60ms;
    f.transport.on(0, slow);
    f.transport.on(1, slow);
    CHECK(f.ask(balance(1)).head.attempts == 2);
    proxy::SharedRetryBudget& retries = f.serving.get()->chains[0]->retries;
    while (retries.has_one(f.clock.now())) {
        retries.take(f.clock.now());
    }
    const RecordingSink sink = f.ask(balance(2));
    CHECK(sink.head.attempts == 1);
    CHECK(sink.body.find("slow") != std::string::npos);
    CHECK(f.transport.sent.size() == 3);
}
