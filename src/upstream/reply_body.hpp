// A reply's body on its way from the wire to its reader: knows where it ends, takes codings off,
// and holds the limits.
#pragma once

#include "runtime/buffer.hpp"
#include "upstream/chunked_decoder.hpp"
#include "upstream/http_reply_parser.hpp"
#include "upstream/inflater.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::upstream {

// A plain body is received into the reader's own buffer and never copied; a chunked or compressed
// one goes through a buffer of its own. Use: take(); then, while it says `more`, receive bytes into
// wire() and tell received(), or finish() at the end of the stream.
class ReplyBody {
  public:
    enum class Step : std::uint8_t {
        more,       // the wire has to bring more
        full,       // `out` holds `limit` bytes or more
        end,        // the body is complete and wholly in `out`
        bad,        // problem() says why
        no_memory,  // the process's buffer budget is used up
    };

    // `rest` is what was received behind the head. `max_size` bounds the body, both as it is sent
    // and as it comes out of its codings.
    ReplyBody(const ReplyHead& head, std::size_t max_size, runtime::Buffer rest);

    // Moves what is here to the end of `out`, until that holds `limit` bytes. A plain body may
    // exceed that by what had been received in one go.
    Step take(runtime::Buffer& out, std::size_t limit);

    // The buffer that the next bytes from the wire go to, and how much room they deserve.
    runtime::Buffer& wire(runtime::Buffer& out) { return plain_ ? out : raw_; }
    std::size_t wanted() const;

    // `fresh` bytes were added to wire(). Then take() again.
    void received(runtime::Buffer& out, std::size_t fresh);

    // The peer ended the stream, cleanly. Only `end` and `bad` come back.
    Step finish();

    // Bytes came after the body's end, which no request asked for.
    bool has_surplus() const { return surplus_ || !raw_.empty(); }

    std::string_view problem() const { return problem_; }

  private:
    Step bad(std::string_view problem);
    Step take_plain(runtime::Buffer& out, std::size_t limit);
    Step take_coded(runtime::Buffer& out, std::size_t limit);
    bool next_payload();
    Step emit(runtime::Buffer& out, std::size_t limit);
    Step check_end();

    Framing framing_;
    bool plain_;  // neither chunked nor compressed
    bool ended_ = false;
    bool surplus_ = false;
    std::uint64_t left_;  // bytes that the wire still owes: Framing::length, or up to the maximum
    std::size_t room_;    // bytes that may still come out
    runtime::Buffer raw_;
    std::string_view payload_;  // a part of raw_ that is being decoded
    std::string_view behind_;   // what is in raw_ behind the payload
    ChunkedDecoder chunks_;
    std::optional<Inflater> inflater_;
    std::string_view problem_;
};

}  // namespace weir::upstream
