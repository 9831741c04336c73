// What the kernel says about this process, for the `process_*` metrics.
#pragma once

#include <cstdint>

namespace weir::telemetry {

// Zero where /proc does not tell.
struct ProcessStats {
    double cpu_seconds = 0;
    double start_time_seconds = 0;  // since the Unix epoch
    std::uint64_t resident_bytes = 0;
    std::uint64_t virtual_bytes = 0;
    std::uint64_t open_fds = 0;
    std::uint64_t max_fds = 0;
    std::uint64_t threads = 0;
};

ProcessStats read_process_stats();

}  // namespace weir::telemetry
