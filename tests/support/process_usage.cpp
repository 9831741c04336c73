#include "support/process_usage.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace weir::test {
namespace {

std::string proc(pid_t pid, const std::string& file) {
    return "/proc/" + std::to_string(pid) + "/" + file;
}

// A line `Name:  123 kB` of /proc/PID/status.
std::size_t status_bytes(pid_t pid, const std::string& name) {
    std::ifstream status(proc(pid, "status"));
    std::string line;
    while (std::getline(status, line)) {
        if (line.starts_with(name + ":")) {
            return std::stoul(line.substr(name.size() + 1)) * 1024;
        }
    }
    throw std::runtime_error("no " + name + " of process " + std::to_string(pid));
}

}  // namespace

std::size_t peak_resident_bytes(pid_t pid) { return status_bytes(pid, "VmHWM"); }

std::size_t resident_bytes(pid_t pid) { return status_bytes(pid, "VmRSS"); }

std::size_t open_descriptors(pid_t pid) {
    const std::filesystem::directory_iterator all(proc(pid, "fd"));
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::chrono::milliseconds cpu_time(pid_t pid) {
    std::ifstream file(proc(pid, "stat"));
    std::string text(std::istreambuf_iterator<char>(file), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));  // from the third field on
    std::string skipped;
    for (int i = 3; i < 14; ++i) {
        fields >> skipped;
    }
    long user = 0;
    long system = 0;
    fields >> user >> system;
    return std::chrono::milliseconds((user + system) * 1000 / sysconf(_SC_CLK_TCK));
}

void limit_descriptors(pid_t pid, std::size_t most) {
    rlimit limit{};
    if (prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0) {
        throw std::runtime_error(std::string("prlimit: ") + std::strerror(errno));
    }
    limit.rlim_cur = static_cast<rlim_t>(most);
    if (prlimit(pid, RLIMIT_NOFILE, &limit, nullptr) != 0) {
        throw std::runtime_error(std::string("prlimit: ") + std::strerror(errno));
    }
}

}  // namespace weir::test
