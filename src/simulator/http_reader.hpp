// HTTP/1.1 requests out of a byte stream, as far as a simulated provider needs it: tolerant of
// everything but what would make it wait or grow without bound.
#pragma once

#include "simulator/responder.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::simulator {

class HttpReader {
  public:
    enum class State {
        more,    // the message has not ended
        ready,   // `message` is complete; next() goes on behind it
        broken,  // cannot be understood, or too large
    };

    static constexpr std::size_t kMaxHead = 64 * 1024;
    static constexpr std::size_t kMaxBody = std::size_t{64} << 20U;

    void feed(std::string_view bytes) { buffer_ += bytes; }

    // Looks for the next message; after `ready`, message() and keep_alive() are those of it.
    State next();
    const Message& message() const { return message_; }
    Message take_message() { return std::move(message_); }
    bool keep_alive() const { return keep_alive_; }

  private:
    State read_chunked(std::size_t body);
    State finish(std::size_t end);

    std::string buffer_;
    Message message_;
    bool keep_alive_ = true;
};

}  // namespace weir::simulator
