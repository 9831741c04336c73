#include "app/demo.hpp"

#include "app/check.hpp"
#include "app/daemon.hpp"
#include "runtime/ports.hpp"
#include "runtime/task.hpp"
#include "simulator/chain.hpp"
#include "simulator/provider.hpp"
#include "simulator/script.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weir::app {
namespace {

using namespace std::chrono_literals;

// Fast, but gives only a few calls a second.
simulator::Script throttler() {
    simulator::Script script;
    script.latency = 5ms;
    script.throttle = {.calls_per_second = 3,
                       .burst = 6,
                       .shape = simulator::ThrottleShape::http_429,
                       .wait = core::seconds(2)};
    return script;
}

// A little behind, slower, and every fourth reply is lost. It takes more calls than the other, but
// not any number: enough of them at a time show what clients get when everybody is limited.
simulator::Script laggard() {
    simulator::Script script;
    script.latency = 40ms;
    script.jitter = 20ms;
    script.throttle = {.calls_per_second = 40,
                       .burst = 40,
                       .shape = simulator::ThrottleShape::wording_in_200,
                       .wait = core::seconds(2)};
    script.lag_blocks = 1;
    script.faults.drop_every = 4;
    return script;
}

// The fastest of all, and on another chain.
simulator::Script stranger() {
    simulator::Script script;
    script.chain_id = 137;
    script.latency = 1ms;
    return script;
}

struct Cast {
    const char* name;
    simulator::Script script;
};

// The providers, on a thread of their own.
class Stage {
  public:
    Stage() : chain_({.seed = 1, .first_head = 20'000'000, .block_time = 2s}, clock_) {
        for (Cast& actor : cast()) {
            providers_.push_back(std::make_unique<simulator::Provider>(io_, clock_, chain_,
                                                                       std::move(actor.script)));
            names_.emplace_back(actor.name);
        }
        thread_ = std::jthread([this] { io_.run(); });
    }
    ~Stage() { io_.stop(); }

    // The daemon's configuration, in the form in which an operator would write it.
    std::string configuration() const {
        std::string yaml =
            "log: {format: text}\n"
            "server: {drain_delay: 0s}\n"
            "chains:\n"
            "  - name: ethereum\n"
            "    chain_id: 1\n"
            "    block_time: 2s\n"
            "    upstreams:\n";
        for (std::size_t i = 0; i < providers_.size(); ++i) {
            yaml += "      - {name: " + names_[i] + ", url: \"" + providers_[i]->url() + "\"}\n";
        }
        return yaml;
    }

  private:
    static std::vector<Cast> cast() {
        return {{"throttler", throttler()}, {"laggard", laggard()}, {"stranger", stranger()}};
    }

    runtime::SystemClock clock_;
    simulator::SimulatedChain chain_;
    boost::asio::io_context io_;
    boost::asio::executor_work_guard<runtime::Executor> work_{io_.get_executor()};
    std::vector<std::unique_ptr<simulator::Provider>> providers_;
    std::vector<std::string> names_;
    std::jthread thread_;
};

void welcome(const Daemon& daemon, std::ostream& out) {
    const std::string rpc = "http://" + daemon.rpc_endpoints().front().to_string();
    const std::string admin = "http://" + daemon.admin_endpoint().to_string();
    out << "weir demo: a gateway at " << rpc << " over three simulated providers:\n"
        << "  throttler  fast, but answers 429 after a few calls a second\n"
        << "  laggard    one block behind; every fourth reply is lost\n"
        << "  stranger   the fastest, and on another chain: never asked\n\n"
        << "Try, in another terminal:\n"
        << "  curl -s " << rpc << " -H 'content-type: application/json' -d "
        << R"('{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}')" << "\n"
        << "  curl -s " << admin << "/api/status\n"
        << "and in a browser: " << admin << "/status\n"
        << std::flush;
}

}  // namespace

int run_demo(const config::Flags& flags, const config::Environment& environment, std::ostream& out,
             std::ostream& err) {
    const Stage stage;
    config::LoadResult config = config::load(stage.configuration(), environment, flags);
    if (!config) {
        print(config.error(), err);
        return 2;
    }
    auto daemon = Daemon::create(std::move(*config));
    if (!daemon) {
        err << "weir: " << daemon.error().message << '\n';
        return 1;
    }
    welcome(**daemon, out);
    return (*daemon)->run();
}

}  // namespace weir::app
