// A gateway without sockets: handlers on one or several threads over scripted upstreams, all with
// one pool.
#pragma once

#include "proxy/handler.hpp"
#include "support/metrics.hpp"
#include "support/recording_sink.hpp"
#include "support/scripted_transport.hpp"
#include "support/wait.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weir::test {

// One chain `test` with upstreams `u0`, `u1`, ... in tiers of their own.
inline config::Config gateway_config(std::size_t upstreams) {
    config::Config config;
    config::Chain& chain = config.chains.emplace_back();
    chain.name = "test";
    chain.chain_id = 1;
    for (std::size_t i = 0; i < upstreams; ++i) {
        config::Upstream& upstream = chain.upstreams.emplace_back();
        upstream.name = "u" + std::to_string(i);
        upstream.tier = static_cast<unsigned>(i);
    }
    return config;
}

class Gateway {
  public:
    // A request under way.
    struct Exchange {
        explicit Exchange(const runtime::Clock& clock) : sink(clock) {}

        std::string body;
        std::string token;
        std::size_t lane = 0;
        RecordingSink sink;
        core::TimePoint ended;
        std::atomic<bool> done = false;
    };
    struct Seen {
        routing::UpstreamIndex upstream;
        core::TimePoint at;
        std::string body;
    };
    using Script = std::function<Reaction(const Sent&)>;

    explicit Gateway(config::Config settings, std::size_t threads = 1)
        : config_(std::move(settings)), metrics_(metrics_layout()) {
        const core::TimePoint now = clock.now();
        pool_ = std::make_shared<upstream::Pool>(config_.chains[0], now);
        const auto context =
            context_of(pool_, providers_, metrics_.bind(names_of(config_.chains[0])));
        serving_.publish(std::make_shared<proxy::Serving>(
            config_, std::vector{context}, clients_.clients_of(config_, metrics_, now)));
        scripts_.resize(config_.chains[0].upstreams.size());
        for (std::size_t i = 0; i < scripts_.size(); ++i) {
            scripts_[i] = [](const Sent&) { return result("\"ok\""); };
            pool_->observe_chain_id(i, 1, now);
            pool_->observe_head(
                i, {.latest = {100, "0xaa"}, .parent_hash = "0xbb", .timestamp = 0, .at = now});
        }
        for (std::size_t i = 0; i < threads; ++i) {
            add_lane(static_cast<unsigned>(i));
        }
    }
    ~Gateway() {
        for (const auto& lane : lanes_) {
            lane->worker.io.stop();
        }
        for (const auto& lane : lanes_) {
            lane->thread.join();
        }
    }

    // Any thread runs the script, one at a time.
    void on(routing::UpstreamIndex upstream, Reaction reaction) {
        on(upstream, [reaction](const Sent&) { return reaction; });
    }
    void on(routing::UpstreamIndex upstream, Script script) {
        const std::lock_guard lock(mutex_);
        scripts_[upstream] = std::move(script);
    }

    // Starts a request; lanes take turns.
    Exchange& start(std::string body, std::string_view token = {}) {
        Exchange& exchange = exchanges_.emplace_back(clock);
        exchange.body = std::move(body);
        exchange.token = "Bearer " + std::string(token);
        exchange.lane = exchanges_.size() % lanes_.size();
        Lane& lane = *lanes_[exchange.lane];
        boost::asio::post(lane.worker.io, [this, &lane, &exchange] {
            boost::asio::co_spawn(lane.worker.io, run(*this, lane, exchange),
                                  boost::asio::detached);
        });
        return exchange;
    }
    static bool finish(const Exchange& exchange) {
        return wait_until([&] { return exchange.done.load(); });
    }
    Exchange& ask(std::string body, std::string_view token = {}) {
        Exchange& exchange = start(std::move(body), token);
        finish(exchange);
        return exchange;
    }
    // As the server does when the connection has ended.
    void client_leaves(Exchange& exchange) {
        boost::asio::post(lanes_[exchange.lane]->worker.io,
                          [&exchange] { exchange.sink.client().leave(); });
    }

    std::vector<Seen> seen() const {
        const std::lock_guard lock(mutex_);
        return seen_;
    }
    upstream::Pool& pool() { return *pool_; }
    // What the server says that it would still take. Before any request.
    void set_room(std::size_t room) { room_ = room; }
    std::string metrics() { return metrics_.render({}); }

    runtime::SystemClock clock;

  private:
    struct Lane {
        Lane(unsigned index, Gateway& gateway)
            : worker(index, gateway.clock, gateway.random_, gateway.budget_),
              transport(worker),
              services{worker,           transport,        gateway.log_,
                       gateway.metrics_, gateway.secrets_, gateway.observations_,
                       gateway.unrouted_},
              handler(gateway.serving_, services, gateway.filters_, gateway.records_) {}
        runtime::Worker worker;
        boost::asio::executor_work_guard<runtime::Executor> work{worker.io.get_executor()};
        ScriptedTransport transport;
        proxy::Services services;
        proxy::Handler handler;
        std::thread thread;
    };

    void add_lane(unsigned index) {
        Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>(index, *this));
        for (std::size_t i = 0; i < scripts_.size(); ++i) {
            lane.transport.on(i, [this, i](const Sent& message) {
                const std::lock_guard lock(mutex_);
                seen_.push_back({i, clock.now(), message.body});
                return scripts_[i](message);
            });
        }
        lane.thread = std::thread([&lane] { lane.worker.io.run(); });
    }

    static runtime::Task<> run(Gateway& gateway, Lane& lane, Exchange& exchange) {
        const proxy::ClientRequest request{
            .route = *lane.handler.route({.path = "/", .authorization = exchange.token}),
            .body = exchange.body,
            .request_id = "r1",
            .peer = "127.0.0.1",
            .received = gateway.clock.now(),
            .room = gateway.room_};
        co_await lane.handler.handle(request, exchange.sink);
        exchange.ended = gateway.clock.now();
        exchange.done = true;
    }

    const config::Config config_;
    runtime::SystemRandom random_;
    runtime::MemoryBudget budget_{64 << 20};
    telemetry::Log log_{{.level = config::LogLevel::off, .format = config::LogFormat::json}, {}};
    telemetry::Metrics metrics_;
    telemetry::PieceRedactor secrets_{{}};
    const std::shared_ptr<const routing::ProviderBook> providers_ =
        std::make_shared<routing::ProviderBook>(config::built_in_providers());
    proxy::Observations observations_;
    upstream::RecentTraffic unrouted_;
    std::shared_ptr<upstream::Pool> pool_;
    proxy::ClientStates clients_;
    core::Published<proxy::Serving> serving_{nullptr};
    proxy::FilterTable filters_;
    proxy::TransactionRecords records_;
    std::size_t room_ = std::numeric_limits<std::size_t>::max();
    mutable std::mutex mutex_;
    std::vector<Script> scripts_;
    std::vector<Seen> seen_;
    std::deque<Exchange> exchanges_;
    std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace weir::test
