// Waiting for something that another thread or process brings about, with a bound.
#pragma once

#include <chrono>
#include <thread>

namespace weir::test {

constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(20);

// True as soon as `condition` holds; false when it does not within `bound`.
template <class Condition>
bool wait_until(Condition condition, std::chrono::milliseconds bound = kPatience) {
    const auto deadline = std::chrono::steady_clock::now() + bound;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace weir::test
