#include "runtime/stream.hpp"

#include "support/catch.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::runtime {
namespace {

using Wait = Stream::Wait;

struct Pair {
    Pair() {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
        peer = ends[0];
        REQUIRE(stream->adopt(ends[1]));
    }
    ~Pair() { ::close(peer); }

    void send(std::string_view text) const {
        REQUIRE(::send(peer, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    }
    // Runs the event loop until nobody waits any more.
    void run() {
        io.restart();
        io.run();
    }
    std::string receive(std::size_t room) {
        std::string text(room, '\0');
        const ssize_t count = stream->receive(text);
        text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return text;
    }

    boost::asio::io_context io;
    ReadySet set{io};
    std::unique_ptr<Stream> stream = std::make_unique<Stream>(set);
    int peer = -1;
};

}  // namespace

TEST_CASE("a stream knows when a read would find nothing") {
    Pair pair;
    CHECK_FALSE(pair.stream->readable());
    boost::system::error_code error = boost::asio::error::would_block;
    const auto note = [&error](boost::system::error_code result) { error = result; };
    pair.stream->async_wait(Wait::read, note);
    pair.send("twelve bytes");
    pair.run();
    CHECK_FALSE(error);
    CHECK(pair.stream->readable());
    CHECK(pair.receive(6) == "twelve");
    CHECK(pair.stream->readable());  // the room was filled: there may be more
    CHECK(pair.receive(100) == " bytes");
    CHECK_FALSE(pair.stream->readable());
}

TEST_CASE("the end of a stream is seen behind its last bytes") {
    Pair pair;
    pair.send("last");
    REQUIRE(::shutdown(pair.peer, SHUT_WR) == 0);
    pair.stream->async_wait(Wait::read, [](boost::system::error_code) {});
    pair.run();
    CHECK(pair.receive(100) == "last");
    CHECK(pair.stream->readable());
    std::array<char, 8> room{};
    CHECK(pair.stream->receive(room) == 0);
}

TEST_CASE("within a turn of the loop a stream knows of what came for it before that turn") {
    Pair first;
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    Stream silent(first.set);
    REQUIRE(silent.adopt(ends[0]));
    CHECK_FALSE(silent.is_silent());  // outside a turn nobody has asked
    std::optional<bool> before;
    std::optional<bool> after;
    const auto note_before = [&](boost::system::error_code) { before = silent.is_silent(); };
    const auto note_after = [&](boost::system::error_code) { after = silent.is_silent(); };
    first.stream->async_wait(Wait::read, note_before);
    first.send("x");
    first.run();
    CHECK(before == true);
    CHECK(first.receive(10) == "x");
    // The farewell comes last, so the kernel tells of it last.
    first.stream->async_wait(Wait::read, note_after);
    first.send("y");
    REQUIRE(::close(ends[1]) == 0);
    first.run();
    CHECK(after == false);
}

TEST_CASE("a wait for room ends when the peer reads") {
    Pair pair;
    const std::string much(65536, 'x');
    while (::send(pair.stream->native_handle(), much.data(), much.size(), MSG_DONTWAIT) > 0) {
    }
    bool writable = false;
    pair.stream->async_wait(Wait::write, [&](boost::system::error_code e) { writable = !e; });
    std::string sink(1 << 22, '\0');
    while (::recv(pair.peer, sink.data(), sink.size(), MSG_DONTWAIT) > 0) {
    }
    pair.run();
    CHECK(writable);
}

TEST_CASE("trouble is the end of both directions, not of one") {
    Pair pair;
    bool trouble = false;
    bool read = false;
    pair.stream->async_wait(Wait::trouble, [&](boost::system::error_code e) { trouble = !e; });
    pair.stream->async_wait(Wait::read, [&](boost::system::error_code) {
        read = true;
        CHECK_FALSE(trouble);
        ::shutdown(pair.peer, SHUT_RD);
        ::shutdown(pair.stream->native_handle(), SHUT_WR);
    });
    REQUIRE(::shutdown(pair.peer, SHUT_WR) == 0);
    pair.run();
    CHECK(read);
    CHECK(trouble);
}

TEST_CASE("closing and cancelling end a wait, but not at once") {
    Pair pair;
    const bool close = GENERATE(true, false);
    bool ended = false;
    boost::system::error_code error;
    pair.stream->async_wait(Wait::read, [&](boost::system::error_code result) {
        ended = true;
        error = result;
    });
    if (close) {
        pair.stream->close();
    } else {
        pair.stream->cancel();
    }
    CHECK_FALSE(ended);
    pair.run();
    CHECK(ended);
    CHECK(error == boost::asio::error::operation_aborted);
}

TEST_CASE("a wait may destroy its stream, and others whose events are at hand") {
    Pair first;
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    auto second = std::make_unique<Stream>(first.set);
    REQUIRE(second->adopt(ends[1]));
    int ran = 0;
    int aborted = 0;
    const auto end_both = [&](boost::system::error_code error) {
        ++ran;
        aborted += error ? 1 : 0;
        first.stream.reset();
        second.reset();
    };
    first.stream->async_wait(Wait::read, end_both);
    second->async_wait(Wait::read, end_both);
    first.send("a");
    REQUIRE(::send(ends[0], "b", 1, 0) == 1);
    first.run();
    CHECK(ran == 2);
    CHECK(aborted == 1);
    ::close(ends[0]);
}

}  // namespace weir::runtime
