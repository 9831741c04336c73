#include "runtime/task_group.hpp"

#include "support/catch.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

using namespace weir::runtime;
using namespace std::chrono_literals;

namespace {

Task<> nap(boost::asio::io_context& io, std::chrono::milliseconds length, int& done) {
    const auto until = std::chrono::steady_clock::now() + length;
    co_await sleep_until(io, until);
    ++done;
}

Task<> fail(boost::asio::io_context& io) {
    int done = 0;
    co_await nap(io, 1ms, done);
    throw std::runtime_error("on purpose");
}

Task<> join(TaskGroup& group, bool& joined) {
    co_await group.join();
    joined = true;
}

Task<> wait_for(Event& event, std::chrono::milliseconds bound, int& outcome) {
    const auto until = std::chrono::steady_clock::now() + bound;
    const bool set = co_await event.wait_until(until);
    outcome = set ? 1 : 0;
}

}  // namespace

TEST_CASE("a group is joined when its last task has ended") {
    boost::asio::io_context io(1);
    TaskGroup group(io);
    int done = 0;
    bool joined = false;
    for (int i = 0; i < 5; ++i) {
        group.spawn(nap(io, std::chrono::milliseconds(5 * i), done));
    }
    boost::asio::co_spawn(io, join(group, joined), boost::asio::detached);
    io.run_for(5s);
    CHECK(done == 5);
    CHECK(joined);
    CHECK(group.running() == 0);
}

TEST_CASE("a task that throws ends the program, whatever its other threads do") {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);  // the test runner's would report it
        close(STDERR_FILENO);
        try {
            boost::asio::io_context io(1);
            TaskGroup group(io);
            group.spawn(fail(io));
            io.run_for(5s);
        } catch (const std::exception&) {
        }
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_FALSE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("cancelling a group ends what its tasks wait for") {
    boost::asio::io_context io(1);
    TaskGroup group(io);
    int done = 0;
    bool joined = false;
    group.spawn(nap(io, 1h, done));
    group.spawn(nap(io, 1h, done));
    boost::asio::co_spawn(io, join(group, joined), boost::asio::detached);
    io.poll();
    CHECK_FALSE(joined);
    group.cancel();
    io.run_for(5s);
    CHECK(joined);
}

TEST_CASE("an event wakes its waiter, and a waiter does not wait for ever") {
    boost::asio::io_context io(1);
    Event event(io);
    int set = -1;
    int late = -1;
    Event never(io);
    boost::asio::co_spawn(io, wait_for(event, 5s, set), boost::asio::detached);
    boost::asio::co_spawn(io, wait_for(never, 10ms, late), boost::asio::detached);
    io.poll();
    event.set();
    io.run_for(5s);
    CHECK(set == 1);
    CHECK(late == 0);
}
