#include "upstream/http_connection.hpp"

#include "runtime/send_pieces.hpp"
#include "upstream/idle_connections.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/parallel_group.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <utility>

namespace weir::upstream {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using runtime::Stream;

constexpr auto kAsTuple = asio::as_tuple(asio::deferred);
constexpr std::size_t kPieces = 16;         // of a message, for one system call
constexpr std::size_t kRecord = 16 * 1024;  // the largest TLS record's payload

}  // namespace

Outgoing::Outgoing(std::string_view head, std::string_view length_line,
                   std::span<const std::string_view> body)
    : front_{head, length_line}, body_(body) {
    skip_empty();
}

void Outgoing::skip_empty() {
    while (!done() && offset_ == piece(piece_).size()) {
        ++piece_;
        offset_ = 0;
    }
}

void Outgoing::advance(std::size_t bytes) {
    while (bytes != 0) {
        const std::size_t taken = std::min(bytes, piece(piece_).size() - offset_);
        offset_ += taken;
        bytes -= taken;
        skip_empty();
    }
}

std::span<std::string_view> Outgoing::pieces(std::span<std::string_view> into) const {
    std::size_t count = 0;
    std::size_t offset = offset_;
    for (std::size_t i = piece_; i < body_.size() + kFront && count < into.size(); ++i) {
        const std::string_view rest = piece(i).substr(offset);
        offset = 0;
        if (!rest.empty()) {
            into[count++] = rest;
        }
    }
    return into.first(count);
}

HttpConnection::HttpConnection(runtime::Worker& worker)
    : Entry(worker.deadlines),
      executor_(worker.io.get_executor()),
      connecting_(executor_),
      stream_(worker.ready),
      interrupt_(worker.io) {}

HttpConnection::~HttpConnection() { close(); }

void HttpConnection::stop(Stop why) {
    if (stop_ == Stop::none) {
        stop_ = why;
    }
    boost::system::error_code ignored;
    connecting_.close(ignored);
    stream_.close();
    interrupt_.set();
}

void HttpConnection::restart() {
    stop_ = Stop::none;
    interrupt_.reset();
}

void HttpConnection::on_deadline() {
    if (idle_in_ != nullptr) {
        idle_in_->expired(*this);  // ends this object
    } else {
        stop(Stop::deadline);
    }
}

void HttpConnection::on_cancel() { stop(Stop::cancelled); }

void HttpConnection::close() {
    boost::system::error_code ignored;
    connecting_.close(ignored);
    if (!stream_.is_open()) {
        return;
    }
    if (tls_) {
        tls_->close();
        flush_tls();
    }
    stream_.close();
}

runtime::Task<bool> HttpConnection::connect(const std::string& address, std::uint16_t port,
                                            int descriptors_below) {
    tls_.reset();
    stream_.close();
    boost::system::error_code error;
    connecting_.close(error);
    const asio::ip::address host = asio::ip::make_address(address, error);
    if (error) {
        problem_ = "not an IP address";
        co_return false;
    }
    const tcp::endpoint peer(host, port);
    connecting_.open(peer.protocol(), error);
    if (error) {
        problem_ = error.message();
        lacks_resources_ = error != asio::error::address_family_not_supported;
        co_return false;
    }
    lacks_resources_ = connecting_.native_handle() >= descriptors_below;
    if (lacks_resources_) {
        connecting_.close(error);
        problem_ = "no descriptors are left";
        co_return false;
    }
    const auto [failed] = co_await connecting_.async_connect(peer, kAsTuple);
    woken(failed);
    if (failed || stop_ != Stop::none) {
        problem_ = failed.message();
        lacks_resources_ =
            failed == asio::error::no_buffer_space || failed == asio::error::no_memory;
        co_return false;
    }
    connecting_.set_option(tcp::no_delay(true), error);
    const int descriptor = connecting_.release(error);
    lacks_resources_ = error || !stream_.adopt(descriptor);
    problem_ = lacks_resources_ ? "no descriptors or memory for the connection" : "";
    co_return !lacks_resources_;
}

runtime::Task<bool> HttpConnection::handshake(std::unique_ptr<TlsSession> session) {
    if (!session) {
        problem_ = "TLS cannot be set up";
        co_return false;
    }
    tls_ = std::move(session);
    for (;;) {
        const TlsSession::Step step = tls_->handshake();
        const Write flushed = flush_tls();  // also what a failure has to tell the peer
        if (step == TlsSession::Step::failed) {
            problem_ = tls_->problem();
            co_return false;
        }
        if (flushed == Write::failed) {
            problem_ = "TLS: the connection was lost during the handshake";
            co_return false;
        }
        if (flushed == Write::blocked) {
            const auto [error] = co_await stream_.async_wait(Stream::Wait::write, kAsTuple);
            woken(error);
        } else if (step == TlsSession::Step::done) {
            co_return true;
        } else if (step == TlsSession::Step::needs_input) {
            const bool came = co_await handshake_input();
            if (!came) {
                co_return false;
            }
        }
        if (stop_ != Stop::none) {
            co_return false;
        }
    }
}

runtime::Task<bool> HttpConnection::handshake_input() {
    for (;;) {
        if (!stream_.readable()) {
            const auto [error] = co_await stream_.async_wait(Stream::Wait::read, kAsTuple);
            woken(error);
            if (error) {
                break;
            }
        }
        const ssize_t count = stream_.receive(tls_->input());
        if (count > 0) {
            tls_->received(static_cast<std::size_t>(count));
            co_return true;
        }
        if (count == 0 || stream_.readable()) {
            break;
        }
    }
    problem_ = "TLS: the connection was lost during the handshake";
    co_return false;
}

void HttpConnection::begin_message() {
    sent_ = 0;
    ++messages_;
}

HttpConnection::Write HttpConnection::write(Outgoing& message) {
    return tls_ ? write_tls(message) : write_plain(message);
}

HttpConnection::Write HttpConnection::write_plain(Outgoing& message) {
    while (!message.done()) {
        std::array<std::string_view, kPieces> views;
        const ssize_t sent = runtime::send_pieces(stream_.native_handle(), message.pieces(views));
        if (sent < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK ? Write::blocked : Write::failed;
        }
        sent_ += static_cast<std::size_t>(sent);
        message.advance(static_cast<std::size_t>(sent));
    }
    return Write::done;
}

HttpConnection::Write HttpConnection::write_tls(Outgoing& message) {
    std::array<char, kRecord> record;
    for (;;) {
        // Pieces are put together, so that a small message is one record.
        while (!message.done()) {
            std::array<std::string_view, kPieces> views;
            std::size_t size = 0;
            for (const std::string_view piece : message.pieces(views)) {
                const std::size_t taken = std::min(piece.size(), record.size() - size);
                std::memcpy(record.data() + size, piece.data(), taken);
                size += taken;
            }
            std::size_t written = 0;
            const TlsSession::Step step = tls_->write({record.data(), size}, written);
            if (step == TlsSession::Step::failed || step == TlsSession::Step::closed) {
                return Write::failed;
            }
            if (step != TlsSession::Step::done) {
                break;
            }
            message.advance(written);
        }
        const std::size_t pending = tls_->output().size();
        const Write flushed = flush_tls();
        if (flushed != Write::done || message.done()) {
            return flushed;
        }
        if (pending == 0) {
            return Write::blocked;  // the session waits for the peer
        }
    }
}

HttpConnection::Write HttpConnection::flush_tls() {
    for (;;) {
        const std::span<const char> output = tls_->output();
        if (output.empty()) {
            return Write::done;
        }
        const ssize_t sent = ::send(stream_.native_handle(), output.data(), output.size(),
                                    MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN || errno == EWOULDBLOCK ? Write::blocked : Write::failed;
        }
        sent_ += static_cast<std::size_t>(sent);
        tls_->sent(static_cast<std::size_t>(sent));
    }
}

// `none` when the session needs more from the socket.
HttpConnection::Read HttpConnection::decrypt(runtime::Buffer& into) {
    std::size_t count = 0;
    const TlsSession::Step step = tls_->read(into.room(), count);
    if (tls_->output().size() != 0) {
        flush_tls();  // an answer to a key update or alert; what is not taken goes out later
    }
    switch (step) {
        case TlsSession::Step::done:
            into.commit(count);
            return Read::data;
        case TlsSession::Step::closed:
            return Read::end;
        case TlsSession::Step::needs_input:
        case TlsSession::Step::needs_output:
            return Read::none;
        default:
            problem_ = tls_->problem();
            return Read::cut_off;
    }
}

void HttpConnection::woken(const boost::system::error_code& error) {
    if (error == asio::error::operation_aborted) {
        stop(Stop::cancelled);
    }
}

HttpConnection::Read HttpConnection::failed_read(const boost::system::error_code& error) {
    woken(error);
    if (stop_ != Stop::none) {
        return Read::stopped;
    }
    if (error == asio::error::eof && !tls_) {
        return Read::end;
    }
    problem_ = error == asio::error::eof ? "the connection ended without TLS's close_notify"
                                         : error.message();
    return Read::cut_off;
}

HttpConnection::Read HttpConnection::try_read(runtime::Buffer& into, std::size_t room) {
    if (stop_ != Stop::none) {
        return Read::stopped;
    }
    if (!into.reserve(room)) {
        return Read::no_memory;
    }
    for (;;) {
        if (tls_) {
            const Read read = decrypt(into);
            if (read != Read::none) {
                return read;
            }
        }
        if (!stream_.readable()) {
            return Read::none;
        }
        const ssize_t count = stream_.receive(tls_ ? tls_->input() : into.room());
        if (count == 0) {
            return failed_read(asio::error::eof);
        }
        if (count < 0) {
            if (!stream_.readable()) {
                return Read::none;
            }
            return failed_read({errno, boost::system::system_category()});
        }
        if (!tls_) {
            into.commit(static_cast<std::size_t>(count));
            return Read::data;
        }
        tls_->received(static_cast<std::size_t>(count));
    }
}

runtime::Task<> HttpConnection::wait_ready() {
    auto readable = stream_.async_wait(Stream::Wait::read, asio::deferred);
    auto writable = stream_.async_wait(Stream::Wait::write, asio::deferred);
    auto either = asio::experimental::make_parallel_group(std::move(readable), std::move(writable));
    const asio::experimental::wait_for_one first;
    const auto [order, read_error, write_error] = co_await either.async_wait(first, kAsTuple);
    // The loser is aborted by the group; if both are, somebody else did it.
    static_cast<void>(order);
    if (read_error == write_error) {
        woken(read_error);
    }
}

bool HttpConnection::is_quiet() {
    if (tls_ && !tls_->is_quiet()) {
        return false;
    }
    if (stream_.is_silent() == true) {
        return true;
    }
    char byte = 0;
    const ssize_t count = ::recv(stream_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace weir::upstream
