#include "runtime/send_pieces.hpp"

#include "support/catch.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using weir::runtime::kMostPieces;
using weir::runtime::send_pieces;

namespace {

class Pair {
  public:
    Pair() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()) == 0); }
    ~Pair() {
        close(ends_[0]);
        close(ends_[1]);
    }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    int sender() const { return ends_[0]; }
    void end_receiver() const { shutdown(ends_[1], SHUT_RDWR); }

    std::string received() const {
        std::string all;
        std::array<char, 4096> bytes;
        for (;;) {
            const ssize_t count = recv(ends_[1], bytes.data(), bytes.size(), 0);
            if (count <= 0) {
                return all;
            }
            all.append(bytes.data(), static_cast<std::size_t>(count));
        }
    }

  private:
    std::array<int, 2> ends_{-1, -1};
};

}  // namespace

TEST_CASE("pieces arrive one after another, small or large") {
    for (const std::size_t size : {0, 1, 1000, 1365, 1366, 4096, 4097, 20'000}) {
        const Pair pair;
        const std::string long_piece(size, 'x');
        const std::vector<std::string_view> pieces{"head", long_piece, "", long_piece, "}"};
        CHECK(send_pieces(pair.sender(), pieces) == static_cast<ssize_t>(2 * size + 5));
        CHECK(pair.received() == "head" + long_piece + long_piece + "}");
    }
}

TEST_CASE("no more pieces go out at once than may, however small they are") {
    const Pair pair;
    const std::string piece(1000, 'y');
    const std::vector<std::string_view> pieces(kMostPieces + 1, piece);
    CHECK(send_pieces(pair.sender(), pieces) == static_cast<ssize_t>(kMostPieces * piece.size()));
}

TEST_CASE("a full socket and a gone peer are told, not waited for") {
    const Pair pair;
    const std::string large(1 << 20, 'z');
    const std::array<std::string_view, 1> pieces{large};
    ssize_t sent = 1;
    while (sent > 0) {
        sent = send_pieces(pair.sender(), pieces);
    }
    CHECK((sent < 0 && errno == EAGAIN));
    pair.end_receiver();
    CHECK(send_pieces(pair.sender(), pieces) < 0);
    CHECK(errno == EPIPE);
}
