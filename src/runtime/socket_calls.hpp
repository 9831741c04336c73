// send(2) and recv(2) as the kernel has them. The C library's own are points at which a thread may
// be cancelled, and pay for that in every call of a process with threads; nobody here cancels one.
#pragma once

#include <cstddef>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace weir::runtime {

inline ssize_t send_bytes(int socket, const char* bytes, std::size_t size, int flags) {
    return ::syscall(SYS_sendto, socket, bytes, size, flags, nullptr, 0);
}

inline ssize_t receive_bytes(int socket, char* into, std::size_t size, int flags) {
    return ::syscall(SYS_recvfrom, socket, into, size, flags, nullptr, nullptr);
}

}  // namespace weir::runtime
