// The part of a wire that is encrypted.
#include "server/wire.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace weir::server {
namespace {

using runtime::Stream;
using Step = runtime::TlsSession::Step;

constexpr auto kAsTuple = boost::asio::as_tuple(boost::asio::deferred);

constexpr std::size_t kRecord = 16 * 1024;  // plaintext of the largest record
constexpr std::size_t kRoom = 16 * 1024;    // for what is decrypted

}  // namespace

runtime::Task<bool> Wire::secure(std::unique_ptr<runtime::TlsSession> session) {
    if (!session || cut_) {
        co_return false;
    }
    tls_ = std::move(session);
    for (;;) {
        const Step step = tls_->handshake();
        const Flushed flushed = flush();  // also what a failure has to tell the client
        if (step == Step::failed || step == Step::closed || flushed == Flushed::failed ||
            expired_) {
            co_return false;
        }
        boost::system::error_code error;
        if (flushed == Flushed::blocked) {
            const auto [woken] = co_await stream_.async_wait(Stream::Wait::write, kAsTuple);
            error = woken;
        } else if (step == Step::done) {
            co_return true;
        } else if (!receive_ciphertext()) {
            if (ended_) {
                co_return false;
            }
            const auto [woken] = co_await stream_.async_wait(Stream::Wait::read, kAsTuple);
            error = woken;
        }
        if (error) {
            co_return false;
        }
    }
}

// False: nothing has come; `ended_` says whether more can.
bool Wire::receive_ciphertext() {
    while (stream_.readable() && !ended_) {
        const ssize_t count = stream_.receive(tls_->input());
        if (count > 0) {
            tls_->received(static_cast<std::size_t>(count));
            return true;
        }
        ended_ = count == 0 || stream_.readable();  // its end, or an error
    }
    return false;
}

Wire::Flushed Wire::flush() {
    for (;;) {
        const std::span<const char> output = tls_->output();
        if (output.empty()) {
            return Flushed::all;
        }
        const ssize_t sent = ::send(stream_.native_handle(), output.data(), output.size(),
                                    MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            tls_->sent(static_cast<std::size_t>(sent));
        } else if (errno != EINTR) {
            return errno == EAGAIN || errno == EWOULDBLOCK ? Flushed::blocked : Flushed::failed;
        }
    }
}

std::optional<Wire::Read> Wire::decrypt() {
    for (;;) {
        if (!buffer_.reserve(kRoom)) {
            return Read::no_memory;
        }
        std::size_t count = 0;
        const Step step = tls_->read(buffer_.room(), count);
        const Flushed flushed = flush();  // answers of TLS itself; what is not taken goes out later
        if (flushed == Flushed::failed) {
            return Read::failed;
        }
        if (step == Step::done) {
            release_ = false;
            buffer_.commit(count);
            return Read::data;
        }
        if (step == Step::closed) {
            return Read::end;
        }
        if (step == Step::failed) {
            return Read::failed;
        }
        if (!receive_ciphertext()) {
            if (buffer_.empty()) {
                buffer_.reset();
            }
            // Without a goodbye a stream may have been cut by anybody: no request ends by it.
            return ended_     ? std::optional(Read::failed)
                   : expired_ ? std::optional(Read::expired)
                              : std::nullopt;
        }
    }
}

Wire::Sent Wire::encrypt(Outgoing& out) {
    std::array<char, kRecord> record;
    std::array<std::string_view, 16> pieces;
    for (;;) {
        const Flushed flushed = flush();
        if (flushed != Flushed::all) {
            return flushed == Flushed::blocked ? Sent::blocked : Sent::failed;
        }
        const std::size_t used = out.gather(pieces);
        if (used == 0) {
            return Sent::all;
        }
        // Put together, so that a small answer is one record.
        std::size_t size = 0;
        for (std::size_t i = 0; i < used && size < record.size(); ++i) {
            const std::size_t taken = std::min(pieces[i].size(), record.size() - size);
            std::memcpy(record.data() + size, pieces[i].data(), taken);
            size += taken;
        }
        std::size_t written = 0;
        const Step step = tls_->write({record.data(), size}, written);
        if (step == Step::failed || step == Step::closed) {
            return Sent::failed;
        }
        if (step == Step::done) {
            out.sent += written;
        } else if (tls_->output().empty()) {
            return Sent::failed;  // it waits for the client, which a session that runs never does
        }
    }
}

// While an answer is awaited: has the client ended the session? What else it sends is kept.
bool Wire::goodbye_said() {
    for (;;) {
        const Step step = tls_->peek();
        if (step == Step::closed || step == Step::failed) {
            return true;
        }
        if (step != Step::needs_input || !receive_ciphertext()) {
            return false;
        }
    }
}

void Wire::send_ahead() {
    if (tls_) {
        std::size_t written = 0;
        if (flush() == Flushed::all &&
            tls_->write({kSentAhead.data(), kSentAhead.size()}, written) == Step::done) {
            sent_ahead_ = written;
            flush();
        }
        return;
    }
    const ssize_t sent = ::send(stream_.native_handle(), kSentAhead.data(), kSentAhead.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    sent_ahead_ = sent > 0 ? static_cast<std::size_t>(sent) : 0;
}

}  // namespace weir::server
