// What a process uses, as /proc says.
#pragma once

#include <chrono>
#include <cstddef>
#include <sys/types.h>

namespace weir::test {

std::size_t peak_resident_bytes(pid_t pid);  // since its start
std::size_t resident_bytes(pid_t pid);
std::size_t open_descriptors(pid_t pid);
std::chrono::milliseconds cpu_time(pid_t pid);  // user and system, all threads

// The most descriptors that it may have from now on.
void limit_descriptors(pid_t pid, std::size_t most);

}  // namespace weir::test
