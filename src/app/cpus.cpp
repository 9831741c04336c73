#include "app/cpus.hpp"

#include "core/hex.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sched.h>
#include <sstream>
#include <string>

namespace weir::app {
namespace {

unsigned rounded_up(std::uint64_t quota, std::uint64_t period) {
    const std::uint64_t cpus = quota / period + (quota % period != 0 ? 1 : 0);
    return static_cast<unsigned>(std::clamp<std::uint64_t>(cpus, 1, 4096));
}

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// The process's own group (`0::/path`) and every group above it may hold a quota.
std::optional<unsigned> cgroup_v2_quota() {
    std::ifstream groups("/proc/self/cgroup");
    std::optional<unsigned> least;
    for (std::string line; std::getline(groups, line);) {
        if (!line.starts_with("0::/")) {
            continue;
        }
        std::string path = line.substr(3);
        for (;;) {
            const auto quota = parse_cpu_max(first_line("/sys/fs/cgroup" + path + "/cpu.max"));
            if (quota) {
                least = std::min(least.value_or(*quota), *quota);
            }
            if (path.empty()) {
                break;
            }
            path.resize(path.rfind('/'));
        }
    }
    return least;
}

std::optional<unsigned> cgroup_v1_quota() {
    const auto quota = core::parse_decimal(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
    const auto period = core::parse_decimal(first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
    if (!quota || !period || *period == 0) {
        return std::nullopt;
    }
    return rounded_up(*quota, *period);
}

}  // namespace

std::optional<unsigned> parse_cpu_max(std::string_view text) {
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) {
        return std::nullopt;
    }
    const auto quota = core::parse_decimal(text.substr(0, blank));
    const auto period = core::parse_decimal(text.substr(blank + 1));
    if (!quota || !period || *period == 0) {
        return std::nullopt;
    }
    return rounded_up(*quota, *period);
}

unsigned usable_cpus() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    unsigned cpus = 1;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        cpus = static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
    }
    for (const std::optional<unsigned> quota : {cgroup_v2_quota(), cgroup_v1_quota()}) {
        cpus = std::min(cpus, quota.value_or(cpus));
    }
    return cpus;
}

}  // namespace weir::app
