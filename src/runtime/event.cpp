#include "runtime/event.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>

namespace weir::runtime {
namespace {

using Timer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

constexpr auto kAsTuple = boost::asio::as_tuple(boost::asio::deferred);

}  // namespace

struct Event::Impl {
    explicit Impl(boost::asio::io_context& io) : timer(io.get_executor()) {}
    Timer timer;
    bool set = false;
};

Event::Event(boost::asio::io_context& io) : impl_(std::make_unique<Impl>(io)) {}
Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

void Event::set() {
    impl_->set = true;
    impl_->timer.cancel();
}

void Event::reset() { impl_->set = false; }

bool Event::is_set() const { return impl_->set; }

Task<bool> Event::wait_until(core::TimePoint deadline) {
    while (!impl_->set) {
        impl_->timer.expires_at(deadline);
        const auto [error] = co_await impl_->timer.async_wait(kAsTuple);
        if (!error && !impl_->set) {
            co_return false;
        }
    }
    co_return true;
}

Task<> Event::wait() {
    const bool set = co_await wait_until(core::TimePoint::max());
    static_cast<void>(set);
}

Task<> sleep_until(boost::asio::io_context& io, core::TimePoint when) {
    Timer timer(io.get_executor());
    timer.expires_at(when);
    const auto [error] = co_await timer.async_wait(kAsTuple);
    static_cast<void>(error);
}

}  // namespace weir::runtime
