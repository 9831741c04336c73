// The head of an HTTP/1.1 request (RFC 9112), read with no tolerance: whatever two parsers could
// understand in two ways is refused, so that no request hides inside another.
#pragma once

#include "server/refusal.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::server {

constexpr std::size_t kMaxRequestLine = 8 * 1024;
constexpr std::size_t kMaxFields = 100;

// Finds the end of a head while its bytes arrive, looking at each byte once, and refuses what is
// too long or breaks lines wrongly as early as it can be seen.
class HeadScanner {
  public:
    enum class State : std::uint8_t { more, complete, refused };

    explicit HeadScanner(std::size_t max_header) : max_header_(max_header) {}

    // `bytes` is all that has arrived so far, from the head's first byte on. After `complete` or
    // `refused` it must not be called again.
    State advance(std::string_view bytes);

    // Of a complete head: where it begins (an empty line before it is skipped) and ends.
    std::size_t begin() const { return begin_; }
    std::size_t end() const { return line_; }

    const Refusal& refusal() const { return refusal_; }

  private:
    State refuse(const Refusal& refusal);
    State take_line(std::string_view line);
    State judge_unfinished(std::size_t size);

    const std::size_t max_header_;
    std::size_t begin_ = 0;
    std::size_t line_ = 0;     // where the current line begins
    std::size_t scanned_ = 0;  // no line ends before here that was not seen
    std::size_t lines_ = 0;
    Refusal refusal_;
};

enum class Method : std::uint8_t { post, get, head, options, connect, other };
enum class Framing : std::uint8_t { no_body, length, chunked };
enum class Version : std::uint8_t { http10, http11 };

// What the server wants to know of a head. The views point into the head's bytes; a header that
// was not sent is an empty optional, or an empty view where that makes no difference.
struct RequestHead {
    Method method = Method::other;
    Version version = Version::http11;
    std::string_view path;                      // without the query; `*` for OPTIONS *
    std::string_view query;                     // without the `?`
    std::optional<std::string_view> authority;  // of an absolute target
    std::optional<std::string_view> host;       // missing under HTTP/1.0 only
    std::optional<std::string_view> origin;
    std::optional<std::string_view> content_type;
    std::string_view content_encoding;
    std::string_view authorization;
    std::vector<std::string_view> forwarded_for;  // X-Forwarded-For, each field's value
    std::string_view request_id;            // X-Request-Id; empty where it is not safe to keep
    std::optional<std::string_view> block;  // Weir-Block; "?" where two differ
    std::optional<std::string_view> optional_calls;  // Weir-Optional, likewise
    Framing framing = Framing::no_body;
    std::uint64_t content_length = 0;
    bool keep_alive = true;
    bool expects_continue = false;
    bool asks_private_network = false;  // Access-Control-Request-Private-Network: true
};

// Parses a complete head, `HeadScanner::begin()` to `end()`. A refusal says how to answer; the
// connection cannot be used any further then.
std::optional<Refusal> parse_head(std::string_view bytes, RequestHead& head);

}  // namespace weir::server
