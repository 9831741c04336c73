#include "runtime/ports.hpp"

#include <random>

namespace weir::runtime {

core::TimePoint SystemClock::now() const { return std::chrono::steady_clock::now(); }

core::WallTime SystemClock::wall_now() const { return std::chrono::system_clock::now(); }

std::uint64_t SystemRandom::next() {
    thread_local std::mt19937_64 generator{std::random_device{}()};
    return generator();
}

}  // namespace weir::runtime
