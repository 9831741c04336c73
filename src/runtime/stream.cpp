#include "runtime/stream.hpp"

#include "runtime/socket_calls.hpp"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::runtime {
namespace {

constexpr std::uint32_t kReadEvents = EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t kWriteEvents = EPOLLOUT | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t kTroubleEvents = EPOLLHUP | EPOLLERR;
// The end of the stream, and the mark of urgent data, at which reads stop short.
constexpr std::uint32_t kMoreEvents = EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI;

}  // namespace

Stream::~Stream() {
    close();
    if (gone_ != nullptr) {
        *gone_ = true;
    }
}

bool Stream::adopt(int descriptor) {
    close();
    readable_ = false;
    may_hold_more_ = false;
    if (!set_.add(*this, descriptor)) {
        ::close(descriptor);
        return false;
    }
    descriptor_ = descriptor;
    return true;
}

void Stream::cancel() {
    abort(Wait::read);
    abort(Wait::write);
    abort(Wait::trouble);
}

void Stream::close() {
    if (is_open()) {
        set_.forget(*this);
        ::close(std::exchange(descriptor_, -1));
    }
    cancel();
}

std::optional<bool> Stream::is_silent() const {
    return set_.is_current() ? std::optional(!readable_ && (upcoming() & kReadEvents) == 0)
                             : std::nullopt;
}

ssize_t Stream::receive(std::span<char> room) {
    for (;;) {
        const ssize_t count = receive_bytes(descriptor_, room.data(), room.size(), MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        const bool empty = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        const bool emptied =
            count > 0 && static_cast<std::size_t>(count) < room.size() && !may_hold_more_;
        if (empty || emptied) {
            readable_ = false;
        }
        return count;
    }
}

Stream::Waiter* Stream::take(Wait what) {
    Waiter* const waiter = std::exchange(place_of(what).waiter, nullptr);
    if (waiter != nullptr) {
        set_.end_wait();
    }
    return waiter;
}

void Stream::abort(Wait what) {
    if (Waiter* const waiter = take(what)) {
        waiter->post(set_.io(), boost::asio::error::operation_aborted);
    }
}

void Stream::on_ready(std::uint32_t events) {
    readable_ = readable_ || (events & kReadEvents) != 0;
    may_hold_more_ = may_hold_more_ || (events & kMoreEvents) != 0;
    bool gone = false;
    bool* const outer = std::exchange(gone_, &gone);
    const auto tell = [&](std::uint32_t which, Wait what) {
        if (!gone && (events & which) != 0) {
            if (Waiter* const waiter = take(what)) {
                waiter->complete(Error());
            }
        }
    };
    tell(kReadEvents, Wait::read);
    tell(kWriteEvents, Wait::write);
    tell(kTroubleEvents, Wait::trouble);
    if (!gone) {
        gone_ = outer;
    } else if (outer != nullptr) {
        *outer = true;
    }
}

}  // namespace weir::runtime
