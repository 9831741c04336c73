// Sending what lies in several places with one system call.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <sys/types.h>

namespace weir::runtime {

constexpr std::size_t kMostPieces = 64;  // of one send_pieces()

// Sends the pieces one after another as far as the socket takes them now; never blocks, raises no
// signal, goes on after an interruption. Returns as ::send() does.
ssize_t send_pieces(int socket, std::span<const std::string_view> pieces);

}  // namespace weir::runtime
