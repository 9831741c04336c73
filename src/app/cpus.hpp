// How many CPUs this process may use.
#pragma once

#include <optional>
#include <string_view>

namespace weir::app {

// The quota of a cgroup v2 `cpu.max` (`max 100000`, `150000 100000`) in CPUs, rounded up; nothing
// for none or for text of another form.
std::optional<unsigned> parse_cpu_max(std::string_view text);

// The affinity mask and the cgroup's quota (v2 or v1), the smaller of them; at least 1.
unsigned usable_cpus();

}  // namespace weir::app
