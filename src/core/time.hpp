// Time types. Logic takes a TimePoint as a parameter; only the shell asks a clock.
#pragma once

#include <chrono>

namespace weir::core {

using TimePoint = std::chrono::steady_clock::time_point;  // deadlines, cool-downs, ages
using Duration = std::chrono::steady_clock::duration;
using WallTime = std::chrono::system_clock::time_point;  // what people and HTTP headers see

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace weir::core
