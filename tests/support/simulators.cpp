#include "support/simulators.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <utility>

namespace weir::test {
namespace {

simulator::SimulatedChain::Settings no_time() {
    simulator::SimulatedChain::Settings settings;
    settings.block_time = core::Duration::zero();
    return settings;
}

}  // namespace

Simulators::Simulators() : Simulators(no_time()) {}

Simulators::Simulators(const simulator::SimulatedChain::Settings& settings)
    : chain_(settings, clock_), work_(io_.get_executor()), thread_([this] { io_.run(); }) {}

Simulators::~Simulators() {
    boost::asio::post(io_, [this] {
        for (const auto& provider : providers_) {
            boost::asio::co_spawn(io_, provider->stop(), boost::asio::detached);
        }
    });
    work_.reset();  // the loop ends once every provider has
    thread_.join();
}

simulator::Provider& Simulators::add(simulator::Script script) {
    std::promise<simulator::Provider*> made;
    boost::asio::post(io_, [&] {
        try {
            providers_.push_back(
                std::make_unique<simulator::Provider>(io_, clock_, chain_, std::move(script)));
            made.set_value(providers_.back().get());
        } catch (...) {
            made.set_exception(std::current_exception());
        }
    });
    return *made.get_future().get();
}

}  // namespace weir::test
