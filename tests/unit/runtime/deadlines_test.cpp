#include "runtime/deadlines.hpp"

#include "support/catch.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace weir;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

struct Probe final : runtime::DeadlineWheel::Entry {
    using Entry::Entry;
    void on_deadline() override {
        fired.push_back(Clock::now());
        if (then) {
            then();
        }
    }
    std::vector<Clock::time_point> fired;
    std::function<void()> then;
};

struct Fixture {
    boost::asio::io_context io{1};
    runtime::DeadlineWheel wheel{io};

    template <class Condition>
    bool run_until(Condition condition, std::chrono::milliseconds bound = 5s) {
        const auto end = Clock::now() + bound;
        while (!condition() && Clock::now() < end) {
            io.run_one_for(20ms);
        }
        return condition();
    }
};

}  // namespace

TEST_CASE("an entry fires once, not before its deadline and soon after") {
    Fixture f;
    Probe probe(f.wheel);
    const auto due = Clock::now() + 60ms;
    probe.arm(due);
    REQUIRE(f.run_until([&] { return !probe.fired.empty(); }));
    CHECK(probe.fired.front() >= due);
    CHECK_FALSE(probe.armed());
    f.io.run_for(50ms);
    CHECK(probe.fired.size() == 1);
}

TEST_CASE("a deadline can be moved both ways and taken back") {
    Fixture f;
    Probe later(f.wheel);
    Probe sooner(f.wheel);
    Probe never(f.wheel);
    const auto start = Clock::now();
    later.arm(start + 20ms);
    later.arm(start + 120ms);
    sooner.arm(start + 60s);
    sooner.arm(start + 30ms);
    never.arm(start + 20ms);
    never.disarm();
    REQUIRE(f.run_until([&] { return !later.fired.empty(); }));
    CHECK(later.fired.front() >= start + 120ms);
    REQUIRE(sooner.fired.size() == 1);
    CHECK(sooner.fired.front() < start + 120ms);
    CHECK(never.fired.empty());
}

TEST_CASE("callbacks may destroy and arm other entries") {
    Fixture f;
    auto victim = std::make_unique<Probe>(f.wheel);
    Probe killer(f.wheel);
    Probe next(f.wheel);
    const auto start = Clock::now();
    killer.then = [&] {
        victim.reset();
        next.arm(Clock::now() + 20ms);
    };
    victim->arm(start + 32ms);
    killer.arm(start + 20ms);
    REQUIRE(f.run_until([&] { return !next.fired.empty(); }));
    CHECK(killer.fired.size() == 1);
}

TEST_CASE("an entry that arms itself again keeps firing") {
    Fixture f;
    Probe probe(f.wheel);
    probe.then = [&] {
        if (probe.fired.size() < 3) {
            probe.arm(Clock::now() + 5ms);
        }
    };
    probe.arm(Clock::now());
    CHECK(f.run_until([&] { return probe.fired.size() == 3; }));
}

TEST_CASE("many entries at random times all fire, none early") {
    Fixture f;
    std::mt19937 random(7);
    std::vector<std::unique_ptr<Probe>> probes;
    std::vector<Clock::time_point> due;
    const auto start = Clock::now();
    for (int i = 0; i < 2000; ++i) {
        probes.push_back(std::make_unique<Probe>(f.wheel));
        due.push_back(start + std::chrono::milliseconds(random() % 300));
        probes.back()->arm(start + std::chrono::milliseconds(random() % 20000));
        probes.back()->arm(due.back());
    }
    REQUIRE(f.run_until([&] {
        return std::all_of(probes.begin(), probes.end(),
                           [](const auto& probe) { return probe->fired.size() == 1; });
    }));
    for (std::size_t i = 0; i < probes.size(); ++i) {
        CHECK(probes[i]->fired.front() >= due[i]);
    }
}

TEST_CASE("after a standstill what has arrived meanwhile is seen before any deadline") {
    Fixture f;
    // More than an event loop takes from the kernel in one look.
    constexpr std::size_t kPipes = 400;
    using Pipe = boost::asio::posix::stream_descriptor;
    std::vector<std::unique_ptr<Pipe>> ends;
    std::vector<std::unique_ptr<Probe>> probes;
    Probe unanswered(f.wheel);
    std::size_t seen = 0;
    const auto due = Clock::now() + 100ms;
    for (std::size_t i = 0; i < kPipes; ++i) {
        std::array<int, 2> pair{};
        REQUIRE(pipe(pair.data()) == 0);
        ends.push_back(std::make_unique<Pipe>(f.io, pair[1]));
        Pipe& end = *ends.emplace_back(std::make_unique<Pipe>(f.io, pair[0]));
        Probe& probe = *probes.emplace_back(std::make_unique<Probe>(f.wheel));
        probe.arm(due);
        end.async_wait(Pipe::wait_read, [&seen, &probe](boost::system::error_code) {
            ++seen;
            probe.disarm();
        });
    }
    unanswered.arm(due);
    f.io.run_for(20ms);
    // The standstill: the wheel's timer ends, then the answers come, all before the loop looks.
    std::this_thread::sleep_for(500ms);
    for (std::size_t i = 0; i < ends.size(); i += 2) {
        REQUIRE(write(ends[i]->native_handle(), "x", 1) == 1);
    }
    REQUIRE(f.run_until([&] { return !unanswered.fired.empty(); }));
    CHECK(seen == kPipes);
    CHECK(std::all_of(probes.begin(), probes.end(),
                      [](const auto& probe) { return probe->fired.empty(); }));
    // The next deadline is met as ever.
    f.io.restart();
    const auto next = Clock::now() + 30ms;
    unanswered.arm(next);
    REQUIRE(f.run_until([&] { return unanswered.fired.size() == 2; }));
    CHECK(unanswered.fired.back() < next + 100ms);
}
