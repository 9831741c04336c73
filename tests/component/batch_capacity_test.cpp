// Batches over upstreams at their in-flight cap: arrays stay whole.
#include "component/batch_fixture.hpp"

#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;

namespace {

config::Config capped(std::size_t upstreams, std::size_t most) {
    config::Config config = make_config(upstreams);
    config.chains[0].timeouts.attempt = 1s;
    for (config::Upstream& upstream : config.chains[0].upstreams) {
        upstream.max_in_flight = most;
    }
    return config;
}

Reaction slowly(const Sent& message) {
    Reaction reaction = good(message);
    reaction.delay = 20ms;
    return reaction;
}

}  // namespace

TEST_CASE("batches beyond the in-flight cap wait for a place and stay whole") {
    Batches f(capped(1, 2));
    f.transport.on_array(0, slowly);
    for (const RecordingSink& sink : f.ask_all(std::vector(10, balances(100)))) {
        f.check(sink, 100);
        CHECK(sink.head.attempts == 1);
    }
    CHECK(f.sizes() == std::vector<std::size_t>(10, 100));
    CHECK(f.pools[0]->status(f.clock.now())[0].in_flight == 0);
}

TEST_CASE("the arrays of one batch take turns with those of others at the cap") {
    Batches f(capped(1, 1));
    f.transport.on_array(0, slowly);
    for (const RecordingSink& sink : f.ask_all(std::vector(4, balances(300)))) {
        f.check(sink, 300);
    }
    CHECK(f.sizes() == std::vector<std::size_t>(12, 100));
}

TEST_CASE("a batch goes to whoever has a place, of the next tier too, before it waits") {
    Batches f(capped(2, 1));
    f.transport.on_array(0, slowly);
    f.transport.on_array(1, slowly);
    for (const RecordingSink& sink : f.ask_all(std::vector(6, balances(50)))) {
        f.check(sink, 50);
    }
    CHECK(f.sizes() == std::vector<std::size_t>(6, 50));
    CHECK(f.asked().size() == 2);
}

TEST_CASE("calls of a batch that finds no place in time are told of overload") {
    config::Config config = capped(1, 1);
    config.chains[0].rate_limits.max_wait = 100ms;
    Batches f(config);
    f.transport.on_array(0, [](const Sent&) {
        Reaction reaction;
        reaction.hangs = true;
        return reaction;
    });
    f.transport.on(0, [](const Sent&) {
        Reaction reaction;
        reaction.hangs = true;
        return reaction;
    });
    const core::TimePoint started = f.clock.now();
    const std::vector<RecordingSink> sinks = f.ask_all({balances(20), balances(20)});
    CHECK(f.clock.now() - started < 3s);
    REQUIRE(jsonrpc::element_count(sinks[1].body) == 20);
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(has_type(item(sinks[1].body, i), "overloaded"));
    }
}
