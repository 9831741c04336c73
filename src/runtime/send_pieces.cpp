#include "runtime/send_pieces.hpp"

#include "runtime/socket_calls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

namespace weir::runtime {
namespace {

constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;

// What fits in here is put together first: the kernel takes one place faster than several.
constexpr std::size_t kSmall = 4 * 1024;

ssize_t send_whole(int socket, std::span<const std::string_view> pieces) {
    std::array<char, kSmall> together;
    std::size_t size = 0;
    for (const std::string_view piece : pieces) {
        std::memcpy(together.data() + size, piece.data(), piece.size());
        size += piece.size();
    }
    return send_bytes(socket, together.data(), size, kFlags);
}

ssize_t send_gathered(int socket, std::span<const std::string_view> pieces) {
    std::array<iovec, kMostPieces> vectors;
    msghdr message{};
    message.msg_iov = vectors.data();
    for (const std::string_view piece : pieces.first(std::min(pieces.size(), vectors.size()))) {
        // sendmsg() does not write to what it sends.
        vectors[message.msg_iovlen++] = {const_cast<char*>(piece.data()), piece.size()};
    }
    return ::sendmsg(socket, &message, kFlags);
}

}  // namespace

ssize_t send_pieces(int socket, std::span<const std::string_view> pieces) {
    std::size_t size = 0;
    for (const std::string_view piece : pieces) {
        size += piece.size();
    }
    for (;;) {
        const ssize_t sent =
            size <= kSmall ? send_whole(socket, pieces) : send_gathered(socket, pieces);
        if (sent >= 0 || errno != EINTR) {
            return sent;
        }
    }
}

}  // namespace weir::runtime
