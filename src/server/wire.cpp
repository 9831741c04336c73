#include "server/wire.hpp"

#include "runtime/send_pieces.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::server {
namespace {

using runtime::Stream;

constexpr auto kAsTuple = boost::asio::as_tuple(boost::asio::deferred);

constexpr core::Duration kKeepMemory = core::seconds(1);  // of a connection that fell silent
constexpr core::Duration kLinger = core::seconds(2);
constexpr std::size_t kLingerBytes = 1024 * 1024;
constexpr std::size_t kReadAtLeast = 2 * 1024;
constexpr std::size_t kReadAtMost = 64 * 1024;

}  // namespace

std::size_t Wire::Outgoing::gather(std::span<std::string_view> places) const {
    std::size_t skip = sent;
    std::size_t used = 0;
    const auto add = [&](std::string_view piece) {
        if (skip >= piece.size()) {
            skip -= piece.size();
            return;
        }
        places[used++] = piece.substr(skip);
        skip = 0;
    };
    add(prefix);
    for (const std::string_view piece : pieces) {
        if (used == places.size()) {
            return used;
        }
        add(piece);
    }
    if (used < places.size()) {
        add(suffix);
    }
    return used;
}

// What a completion that comes late finds: the wire, or that it is watched no more.
struct Wire::Watch {
    Wire* wire;
};

Wire::Wire(runtime::Worker& worker, int descriptor)
    : Entry(worker.deadlines), worker_(worker), stream_(worker.ready), buffer_(worker.buffers) {
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    cut_ = !stream_.adopt(descriptor);
}

Wire::~Wire() { unwatch(); }

void Wire::set_deadline(core::TimePoint when) {
    deadline_ = when;
    alarm_ = Alarm::expire;
    arm(when);
}

void Wire::set_idle_deadline(core::TimePoint now, core::TimePoint when) {
    deadline_ = when;
    if (!idled_before_) {
        idled_before_ = true;
        release_ = true;
    }
    const bool release_first = !release_ && now + kKeepMemory < when;
    alarm_ = release_first ? Alarm::release_memory : Alarm::expire;
    arm(release_first ? now + kKeepMemory : when);
}

void Wire::watch(Watcher& watcher, core::TimePoint started) {
    watcher_ = &watcher;
    alarm_ = Alarm::watch;
    arm(started + kWatchAfter);
}

void Wire::unwatch() {
    watcher_ = nullptr;
    if (alarm_ == Alarm::watch) {
        disarm();
        alarm_ = Alarm::expire;
    }
    if (watch_) {
        watch_->wire = nullptr;
        watch_.reset();
        stream_.cancel();
    }
}

// Has the connection ended in both directions?
bool Wire::is_broken() {
    pollfd state{.fd = stream_.native_handle(), .events = 0, .revents = 0};
    return cut_ || (::poll(&state, 1, 0) > 0 && (state.revents & (POLLERR | POLLHUP)) != 0);
}

// Leaves what has arrived where it is: it belongs to the next request.
void Wire::look() {
    const bool broken = is_broken();
    char byte = 0;
    const ssize_t here =
        broken ? -1 : ::recv(stream_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (here < 0 && !broken && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        wait_and_look(Stream::Wait::read);
        return;
    }
    const bool left = here > 0 && tls_ && goodbye_said();
    if (here > 0 && tls_ && !left && !stream_.readable() && tls_->is_quiet()) {
        wait_and_look(Stream::Wait::read);  // it was no data, but TLS's own
        return;
    }
    if (here == 0 && sent_ahead_ == 0) {
        send_ahead();
    }
    if (here >= 0 && !left) {
        wait_and_look(Stream::Wait::trouble);
        return;
    }
    watch_.reset();
    if (Watcher* const watcher = std::exchange(watcher_, nullptr)) {
        watcher->on_gone();
    }
}

void Wire::wait_and_look(Stream::Wait what) {
    if (!watch_) {
        watch_ = std::make_shared<Watch>(Watch{this});
    }
    stream_.async_wait(what, [watch = watch_, what](boost::system::error_code error) {
        Wire* const wire = watch->wire;
        // Urgent data wakes as an error does, and is of no interest.
        if (wire != nullptr && !error && (what == Stream::Wait::read || wire->is_broken())) {
            wire->look();
        }
    });
}

void Wire::on_deadline() {
    if (alarm_ == Alarm::watch) {
        alarm_ = Alarm::expire;
        look();
        return;
    }
    if (alarm_ == Alarm::release_memory) {
        release_ = true;
        alarm_ = Alarm::expire;
        arm(deadline_);
    } else {
        expired_ = true;
    }
    stream_.cancel();
}

runtime::Task<Wire::Read> Wire::read(std::size_t wanted) {
    for (;;) {
        std::optional<Read> read = try_read(wanted);
        if (!read) {
            const auto [error] = co_await wait_readable();
            read = woken(error);
        }
        if (read) {
            co_return *read;
        }
    }
}

std::optional<Wire::Read> Wire::try_read(std::size_t wanted) {
    if (cut_) {
        return Read::failed;
    }
    if (release_ && buffer_.empty()) {
        buffer_.reset();
    }
    if (tls_) {
        return decrypt();
    }
    if (!stream_.readable()) {
        return expired_ ? std::optional(Read::expired) : std::nullopt;
    }
    release_ = false;
    if (!buffer_.reserve(std::clamp(wanted, kReadAtLeast, kReadAtMost))) {
        return Read::no_memory;
    }
    const ssize_t count = stream_.receive(buffer_.room());
    if (count > 0) {
        buffer_.commit(static_cast<std::size_t>(count));
        return Read::data;
    }
    if (count == 0) {
        return Read::end;
    }
    if (stream_.readable()) {  // an error, not an empty socket
        return Read::failed;
    }
    return expired_ ? std::optional(Read::expired) : std::nullopt;
}

// An aborted wait that only gave memory back goes on.
std::optional<Wire::Read> Wire::woken(const boost::system::error_code& error) const {
    if (error && expired_) {
        return Read::expired;
    }
    if (error && (released_before_ || !release_)) {
        return Read::failed;
    }
    return std::nullopt;
}

Wire::Sent Wire::send_now(Outgoing& out) {
    if (cut_) {
        return Sent::failed;
    }
    if (tls_) {
        return encrypt(out);
    }
    constexpr std::size_t kOfMost = 8;  // answers have no more pieces
    return out.pieces.size() + 2 <= kOfMost ? send_plain<kOfMost>(out)
                                            : send_plain<runtime::kMostPieces>(out);
}

// At most `most` pieces with one system call.
template <std::size_t most>
Wire::Sent Wire::send_plain(Outgoing& out) {
    std::array<std::string_view, most> pieces;
    for (;;) {
        const std::size_t used = out.gather(pieces);
        if (used == 0) {
            return Sent::all;
        }
        std::size_t offered = 0;
        for (std::size_t i = 0; i < used; ++i) {
            offered += pieces[i].size();
        }
        const ssize_t taken =
            runtime::send_pieces(stream_.native_handle(), std::span(pieces).first(used));
        if (taken < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK ? Sent::blocked : Sent::failed;
        }
        out.sent += static_cast<std::size_t>(taken);
        if (static_cast<std::size_t>(taken) == offered && used < pieces.size()) {
            return Sent::all;
        }
    }
}

runtime::Task<bool> Wire::send_rest(Outgoing out, core::Duration patience) {
    const std::string prefix(out.prefix);
    out.prefix = prefix;
    expired_ = false;
    std::size_t mark = out.sent;
    set_deadline(worker_.clock.now() + patience);
    for (;;) {
        const auto [error] = co_await stream_.async_wait(Stream::Wait::write, kAsTuple);
        const Sent sent = error || expired_ ? Sent::failed : send_now(out);
        if (sent != Sent::blocked) {
            clear_deadline();
            co_return sent == Sent::all;
        }
        if (out.sent - mark >= kProgressBytes) {
            mark = out.sent;
            set_deadline(worker_.clock.now() + patience);
        }
    }
}

runtime::Task<> Wire::close() {
    if (!cut_) {
        if (tls_) {
            tls_->close();
            flush();
        }
        ::shutdown(stream_.native_handle(), SHUT_WR);
        expired_ = false;
        set_deadline(worker_.clock.now() + kLinger);
        std::size_t thrown_away = 0;
        while (thrown_away < kLingerBytes) {
            thrown_away += buffer_.size();
            buffer_.clear();
            const Read read_result = co_await read(0);
            if (read_result != Read::data) {
                break;
            }
        }
        clear_deadline();
    }
    stream_.close();
    cut_ = true;
}

void Wire::cut() {
    if (cut_) {
        return;
    }
    cut_ = true;
    clear_deadline();
    const linger reset{.l_onoff = 1, .l_linger = 0};
    setsockopt(stream_.native_handle(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    stream_.close();
}

void Wire::cut_if_silent() {
    char byte = 0;
    if (!cut_ && ::recv(stream_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0) {
        if (tls_) {
            tls_->close();
            flush();
        }
        cut_ = true;
        stream_.close();
    }
}

}  // namespace weir::server
