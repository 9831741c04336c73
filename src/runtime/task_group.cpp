#include "runtime/task_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <list>

namespace weir::runtime {

struct TaskGroup::State {
    explicit State(boost::asio::io_context& context) : io(context), idle(context) { idle.set(); }
    boost::asio::io_context& io;
    std::list<boost::asio::cancellation_signal> signals;
    Event idle;
};

TaskGroup::TaskGroup(boost::asio::io_context& io) : state_(std::make_shared<State>(io)) {}

TaskGroup::~TaskGroup() = default;

void TaskGroup::spawn(Task<> task) {
    state_->idle.reset();
    const auto signal = state_->signals.emplace(state_->signals.end());
    // Out of an event loop an exception would unwind one thread and leave the others behind.
    auto finished = [state = state_, signal](std::exception_ptr error) noexcept {
        if (error) {
            std::rethrow_exception(error);  // to std::terminate, which says what it was
        }
        state->signals.erase(signal);
        if (state->signals.empty()) {
            state->idle.set();
        }
    };
    boost::asio::co_spawn(state_->io.get_executor(), std::move(task),
                          boost::asio::bind_cancellation_slot(signal->slot(), std::move(finished)));
}

void TaskGroup::cancel() {
    // A cancelled task may end at once and leave the list.
    for (auto next = state_->signals.begin(); next != state_->signals.end();) {
        const auto signal = next++;
        signal->emit(boost::asio::cancellation_type::terminal);
    }
}

Task<> TaskGroup::join() { return state_->idle.wait(); }

std::size_t TaskGroup::running() const { return state_->signals.size(); }

}  // namespace weir::runtime
