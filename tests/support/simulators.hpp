// Simulated providers on a thread of their own, all showing one chain.
#pragma once

#include "runtime/ports.hpp"
#include "simulator/chain.hpp"
#include "simulator/provider.hpp"
#include "simulator/script.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <thread>
#include <vector>

namespace weir::test {

class Simulators {
  public:
    // Blocks come by chain().mine() only, unless `settings` say otherwise.
    Simulators();
    explicit Simulators(const simulator::SimulatedChain::Settings& settings);
    ~Simulators();
    Simulators(const Simulators&) = delete;
    Simulators& operator=(const Simulators&) = delete;

    // Lives as long as this object.
    simulator::Provider& add(simulator::Script script = {});
    simulator::SimulatedChain& chain() { return chain_; }

  private:
    runtime::SystemClock clock_;
    simulator::SimulatedChain chain_;
    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    std::vector<std::unique_ptr<simulator::Provider>> providers_;
    std::thread thread_;
};

}  // namespace weir::test
