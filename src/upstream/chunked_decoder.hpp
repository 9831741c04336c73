// Takes the chunked transfer coding off a body (RFC 9112, section 7.1), strictly and piece by
// piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::upstream {

class ChunkedDecoder {
  public:
    static constexpr std::size_t kMaxExtensions = 16 * 1024;  // of all chunks together
    static constexpr std::size_t kMaxTrailers = 8 * 1024;

    enum class Step : std::uint8_t {
        more,  // all of `in` is used up
        data,  // `data` is the next piece of the payload, a part of what `in` was
        end,   // the body is complete; what is left in `in` does not belong to it
        bad,
    };

    // Takes bytes off the front of `in`. After `end` or `bad` not to be called again.
    Step next(std::string_view& in, std::string_view& data);

  private:
    enum class State : std::uint8_t {
        size_begin,
        size,
        extension,
        size_feed,
        payload,
        payload_return,
        payload_feed,
        trailer_begin,
        trailer_name,
        trailer_value,
        trailer_feed,
        last_feed,
    };

    bool framing_byte(char c);
    bool trailer_byte(char c);

    State state_ = State::size_begin;
    std::uint64_t left_ = 0;  // of the chunk's payload
    unsigned digits_ = 0;
    std::size_t extensions_ = 0;
    std::size_t trailers_ = 0;
};

}  // namespace weir::upstream
