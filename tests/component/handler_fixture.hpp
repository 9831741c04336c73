// A request handler over scripted upstreams, on an event loop of its own.
#pragma once

#include "proxy/account.hpp"
#include "proxy/handler.hpp"
#include "routing/methods.hpp"
#include "support/catch.hpp"
#include "support/recording_sink.hpp"
#include "support/scripted_transport.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>
#include <memory>
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

inline telemetry::MetricsLayout make_layout(const config::Config& config) {
    telemetry::MetricsLayout layout;
    for (const config::Chain& chain : config.chains) {
        telemetry::MetricsLayout::Chain& own = layout.chains.emplace_back();
        own.name = chain.name;
        for (const config::Upstream& upstream : chain.upstreams) {
            own.upstreams.push_back(upstream.name);
        }
    }
    for (std::size_t i = 0; i < routing::method_count(); ++i) {
        layout.methods.emplace_back(i == 0 ? "other" : routing::method_at(i).name);
    }
    for (std::size_t i = 0; i < routing::kCauses; ++i) {
        layout.causes.emplace_back(routing::to_string(static_cast<routing::Cause>(i)));
    }
    layout.outcomes = proxy::outcome_names();
    return layout;
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
        auto pool = std::make_unique<upstream::Pool>(config.chains[0], now);
        for (std::size_t i = 0; i < upstreams; ++i) {
            transport.on(i, result("\"from " + std::to_string(i) + '"'));
            pool->observe_chain_id(i, 1, now);
            pool->observe_head(
                i, {.latest = {100, "0xaa"}, .parent_hash = "0xbb", .timestamp = 0, .at = now});
        }
        pools.push_back(std::move(pool));
        contexts.push_back(
            std::make_unique<proxy::ChainContext>(0, config.chains[0], *pools[0], providers));
        handler = std::make_unique<proxy::Handler>(config, services, contexts, filters, records);
    }

    RecordingSink ask(const std::string& body) { return ask_all({body}).front(); }

    // Side by side.
    std::vector<RecordingSink> ask_all(const std::vector<std::string>& bodies) {
        std::vector<RecordingSink> sinks(bodies.size());
        std::vector<proxy::ClientRequest> requests(bodies.size());
        std::size_t done = 0;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            requests[i] = {.route = {0},
                           .body = bodies[i],
                           .request_id = "r1",
                           .peer = "127.0.0.1",
                           .received = clock.now()};
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
    telemetry::Metrics metrics{make_layout(config)};
    telemetry::PieceRedactor secrets{{}};
    routing::ProviderBook providers{config::built_in_providers()};
    proxy::Observations observations;
    proxy::Services services{worker, transport, log, metrics, secrets, observations};
    std::vector<std::unique_ptr<upstream::Pool>> pools;
    std::vector<std::unique_ptr<proxy::ChainContext>> contexts;
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
