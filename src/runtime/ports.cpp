#include "runtime/ports.hpp"

#include <random>

namespace weir::runtime {

core::TimePoint SystemClock::now() const { return std::chrono::steady_clock::now(); }

core::WallTime SystemClock::wall_now() const { return std::chrono::system_clock::now(); }

// SplitMix64 (Steele, Lea, Flood 2014): each thread walks the 64-bit numbers from a place of its
// own.
std::uint64_t SystemRandom::next() {
    const auto somewhere = [] {
        std::random_device device;
        return std::uint64_t{device()} << 32U | device();
    };
    thread_local std::uint64_t state = somewhere();
    std::uint64_t mixed = state += 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
}

}  // namespace weir::runtime
