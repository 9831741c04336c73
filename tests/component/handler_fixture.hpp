// A request handler over scripted upstreams, on an event loop of its own.
#pragma once

#include "proxy/handler.hpp"
#include "support/catch.hpp"
#include "support/metrics.hpp"
#include "support/recording_sink.hpp"
#include "support/scripted_transport.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weir::test {

using namespace std::chrono_literals;

inline config::Config make_config(std::size_t upstreams) {
    config::Config config;
    config::Chain chain;
    chain.name = "test";
    chain.chain_id = 1;
    chain.timeouts.request = 2s;
    chain.timeouts.attempt = 100ms;
    chain.reply_buffer = 256;
    for (std::size_t i = 0; i < upstreams; ++i) {
        config::Upstream upstream;
        upstream.name = "u" + std::to_string(i);
        upstream.tier = static_cast<unsigned>(i);  // a fixed order
        chain.upstreams.push_back(upstream);
    }
    config.chains.push_back(chain);
    return config;
}

inline runtime::Task<> run_one(proxy::Handler& handler, proxy::ClientRequest request,
                               RecordingSink& sink, std::size_t& done) {
    co_await handler.handle(request, sink);
    ++done;
}

// The system's clock, which a test may put forward. Timers do not know of that.
class ShiftedClock final : public runtime::Clock {
  public:
    core::TimePoint now() const override { return real_.now() + shift_; }
    core::WallTime wall_now() const override { return real_.wall_now() + shift_; }
    void pass(core::Duration time) { shift_ += time; }

  private:
    runtime::SystemClock real_;
    core::Duration shift_{};
};

struct Fixture {
    explicit Fixture(std::size_t upstreams) : Fixture(make_config(upstreams)) {}
    explicit Fixture(config::Config settings) : config(std::move(settings)) {
        const std::size_t upstreams = config.chains[0].upstreams.size();
        const core::TimePoint now = clock.now();
        auto pool = std::make_shared<upstream::Pool>(config.chains[0], now);
        for (std::size_t i = 0; i < upstreams; ++i) {
            transport.on(i, result("\"from " + std::to_string(i) + '"'));
            pool->observe_chain_id(i, 1, now);
            pool->observe_head(
                i, {.latest = {100, "0xaa"}, .parent_hash = "0xbb", .timestamp = 0, .at = now});
        }
        pools.push_back(std::move(pool));
        serve();
    }
    ~Fixture() {
        for (const auto& pool : pools) {
            pool->on_wake({});
        }
    }

    // The first pool, as the configuration says. Whoever is to be asked for its chain tells it.
    void serve() {
        const auto tell = [this, pool = pools[0].get()](std::optional<routing::UpstreamIndex> who) {
            boost::asio::post(worker.io, [this, pool, who] {
                if (who && !pool->is_identified(*who)) {
                    pool->observe_chain_id(*who, config.chains[0].chain_id, clock.now());
                }
            });
        };
        pools[0]->on_wake(tell);
        const auto context =
            context_of(pools[0], providers, metrics.bind(names_of(config.chains[0])));
        serving.publish(std::make_shared<proxy::Serving>(
            config, std::vector{context}, clients.clients_of(config, metrics, clock.now())));
        handler = std::make_unique<proxy::Handler>(serving, services, filters, records);
    }

    // Takes up a change of the configuration, as a reload does.
    void reconfigure() {
        std::vector<std::optional<routing::UpstreamIndex>> places;
        for (std::size_t i = 0; i < config.chains[0].upstreams.size(); ++i) {
            places.emplace_back(i);
        }
        retired.push_back(pools[0]);
        pools[0] = std::make_shared<upstream::Pool>(
            config.chains[0], clock.now(), *providers,
            upstream::Pool::Succession{.before = *retired.back(), .places = places});
        serve();
    }

    RecordingSink ask(const std::string& body, const proxy::PinWish* pin = nullptr) {
        return ask_all({body}, pin).front();
    }

    // Side by side.
    std::vector<RecordingSink> ask_all(const std::vector<std::string>& bodies,
                                       const proxy::PinWish* pin = nullptr) {
        std::vector<RecordingSink> sinks(bodies.size(), RecordingSink(clock));
        std::vector<proxy::ClientRequest> requests(bodies.size());
        std::size_t done = 0;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            requests[i] = {.route = *handler->route({.path = "/", .authorization = token}),
                           .body = bodies[i],
                           .request_id = "r1",
                           .peer = "127.0.0.1",
                           .received = clock.now(),
                           .pin = pin};
            boost::asio::co_spawn(worker.io, run_one(*handler, requests[i], sinks[i], done),
                                  boost::asio::detached);
        }
        const auto bound = clock.now() + 10s;
        while (done != bodies.size() && clock.now() < bound) {
            worker.io.restart();
            worker.io.run_one_for(50ms);
        }
        REQUIRE(done == bodies.size());
        return sinks;
    }

    std::set<routing::UpstreamIndex> asked() const {
        std::set<routing::UpstreamIndex> all;
        for (const Sent& message : transport.sent) {
            all.insert(message.upstream);
        }
        return all;
    }

    ShiftedClock clock;
    runtime::SystemRandom random;
    runtime::MemoryBudget budget{64 << 20};
    config::Config config;
    runtime::Worker worker{0, clock, random, budget};
    ScriptedTransport transport{worker};
    telemetry::Log log{{.level = config::LogLevel::off, .format = config::LogFormat::json}, {}};
    telemetry::Metrics metrics{metrics_layout()};
    telemetry::PieceRedactor secrets{{}};
    std::shared_ptr<const routing::ProviderBook> providers =
        std::make_shared<routing::ProviderBook>(config::built_in_providers());
    proxy::Observations observations;
    upstream::RecentTraffic unrouted;
    proxy::Services services{worker, transport, log, metrics, secrets, observations, unrouted};
    std::vector<std::shared_ptr<upstream::Pool>> retired;
    std::vector<std::shared_ptr<upstream::Pool>> pools;
    proxy::ClientStates clients;
    core::Published<proxy::Serving> serving{nullptr};
    std::string token;  // an Authorization header's value
    proxy::FilterTable filters;
    proxy::TransactionRecords records;
    std::unique_ptr<proxy::Handler> handler;
};

inline std::string call(std::string_view id, std::string_view method,
                        std::string_view params = "[]") {
    std::string body = R"({"jsonrpc":"2.0","id":)";
    body += id;
    body += R"(,"method":")";
    body += method;
    body += R"(","params":)";
    body += params;
    return body + '}';
}

inline bool has_type(const std::string& body, std::string_view type) {
    return body.find("\"type\":\"" + std::string(type) + '"') != std::string::npos;
}

}  // namespace weir::test
