// The chunked coding of a request's body (RFC 9112, 7.1), decoded in place and without tolerance.
#pragma once

#include "server/refusal.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::server {

class ChunkedBody {
  public:
    enum class State : std::uint8_t { more, complete, refused };

    explicit ChunkedBody(std::size_t max_body) : max_body_(max_body) {}

    // Takes `size` further raw bytes at `raw` and writes what they decode to at `out`, which may
    // be anywhere at or before `raw`. After `complete` the bytes beyond consumed() belong to the
    // next request.
    State feed(char* raw, std::size_t size, char* out);

    // Of the last feed(): raw bytes used, decoded bytes written.
    std::size_t consumed() const { return consumed_; }
    std::size_t produced() const { return produced_; }

    const Refusal& refusal() const { return refusal_; }

  private:
    enum class At : std::uint8_t {
        size,
        extension,
        size_lf,
        data,
        data_cr,
        data_lf,
        trailer_start,
        trailer_name,
        trailer_value,
        trailer_lf,
        last_lf,
        end,
    };

    State refuse(std::string_view message, int status = 400);
    State take(char c);
    State take_size(char c);
    State take_trailer_name(char c);
    State end_size_line();

    const std::size_t max_body_;
    At at_ = At::size;
    std::uint64_t chunk_ = 0;    // bytes of the chunk that are still to come
    unsigned digits_ = 0;        // of the size
    std::size_t total_ = 0;      // of all chunks announced so far
    std::size_t overhead_ = 0;   // bytes of extensions and trailers
    std::array<char, 32> name_;  // of a trailer, lower case; a longer one is none of the forbidden
    std::size_t name_size_ = 0;
    std::size_t consumed_ = 0;
    std::size_t produced_ = 0;
    Refusal refusal_;
};

}  // namespace weir::server
