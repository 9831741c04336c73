#include "telemetry/process_stats.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace weir::telemetry {
namespace {

// /proc/self/stat from its third field on (proc(5)); the second, the name, may hold blanks.
void read_stat(ProcessStats& stats, double ticks_per_second) {
    std::ifstream file("/proc/self/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) {
        return;
    }
    std::istringstream fields(text.substr(name_end + 1));
    constexpr int kUserTime = 14;
    constexpr int kSystemTime = 15;
    constexpr int kThreads = 20;
    constexpr int kStartTime = 22;  // since boot
    constexpr int kVirtualSize = 23;
    constexpr int kResidentPages = 24;
    std::string field;
    for (int number = 3; number <= kResidentPages && fields >> field; ++number) {
        if (number == 3) {
            continue;  // the state, a letter
        }
        const double value = std::strtod(field.c_str(), nullptr);
        switch (number) {
            case kUserTime:
            case kSystemTime:
                stats.cpu_seconds += value / ticks_per_second;
                break;
            case kThreads:
                stats.threads = static_cast<std::uint64_t>(value);
                break;
            case kStartTime:
                stats.start_time_seconds += value / ticks_per_second;
                break;
            case kVirtualSize:
                stats.virtual_bytes = static_cast<std::uint64_t>(value);
                break;
            case kResidentPages:
                stats.resident_bytes = static_cast<std::uint64_t>(value) *
                                       static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
                break;
            default:
                break;
        }
    }
}

double boot_time_seconds() {
    std::ifstream file("/proc/stat");
    std::string word;
    double seconds = 0;
    while (file >> word) {
        if (word == "btime" && file >> seconds) {
            return seconds;
        }
    }
    return 0;
}

std::uint64_t count_open_fds() {
    std::error_code error;
    std::filesystem::directory_iterator entries("/proc/self/fd", error);
    std::uint64_t count = 0;
    while (!error && entries != std::filesystem::directory_iterator()) {
        ++count;
        entries.increment(error);
    }
    return count == 0 ? 0 : count - 1;  // without the one that this look took
}

}  // namespace

ProcessStats read_process_stats() {
    ProcessStats stats;
    stats.start_time_seconds = boot_time_seconds();
    read_stat(stats, static_cast<double>(sysconf(_SC_CLK_TCK)));
    stats.open_fds = count_open_fds();
    rlimit limit = {};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        stats.max_fds = limit.rlim_cur;
    }
    return stats;
}

}  // namespace weir::telemetry
