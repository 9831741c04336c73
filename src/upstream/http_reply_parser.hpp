// Reads the head of an HTTP/1.1 reply (RFC 9110, 9112), strictly: what two readers could understand
// in two ways is refused, because a connection is only worth reusing if both ends agree where a
// reply ends.
#pragma once

#include "core/time.hpp"
#include "routing/verdict.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::upstream {

// Where the body ends (RFC 9112, section 6.3).
enum class Framing : std::uint8_t { none, length, chunked, until_close };

enum class Coding : std::uint8_t { identity, gzip, deflate };

struct ReplyHead {
    routing::HttpHead http;
    Framing framing = Framing::until_close;
    std::uint64_t length = 0;  // with Framing::length
    Coding coding = Coding::identity;
    bool keep_alive = false;                   // the connection may carry another request
    std::optional<core::Duration> idle_limit;  // `Keep-Alive: timeout=`
};

// Whose fields about rates are kept: rules read those of refusals, people those of every reply.
enum class RateFields : std::uint8_t { of_refusals, of_every_reply };

// One parser reads one reply's head, together with the interim (1xx) heads before it.
class ReplyHeadParser {
  public:
    static constexpr std::size_t kMaxSize = 64 * 1024;  // interim heads included
    static constexpr std::size_t kMaxFields = 200;      // of one head

    enum class Step : std::uint8_t { more, done, bad };

    explicit ReplyHeadParser(RateFields rate_fields = RateFields::of_refusals)
        : rate_fields_(rate_fields) {}

    // `bytes` is everything received since the reply's first byte: the same as in the call before,
    // and more. Each byte is looked at once. After `done` or `bad` not to be called again.
    Step parse(std::string_view bytes);

    // After `done`: the head, and how many bytes it took. The body begins there.
    ReplyHead& head() { return head_; }
    std::size_t size() const { return line_; }

    // After `bad`: what was wrong, in words of our own.
    std::string_view problem() const { return problem_; }

  private:
    Step bad(std::string_view problem);
    Step status_line(std::string_view line);
    Step field(std::string_view line);
    Step content_length(std::string_view value);
    Step transfer_encoding(std::string_view value);
    Step content_encoding(std::string_view value);
    void connection(std::string_view value);
    void keep_limit(std::string_view name, std::string_view value);
    void keep_alive_limit(std::string_view value);
    Step blank_line();

    RateFields rate_fields_;
    ReplyHead head_;
    std::string_view problem_;
    std::string_view bytes_;      // of the parse() that is under way
    std::size_t date_begin_ = 0;  // where the value of Date stands in them
    std::size_t date_size_ = 0;
    std::size_t line_ = 0;     // where the line begins that is not complete yet
    std::size_t scanned_ = 0;  // no line feed between there and here
    std::size_t fields_ = 0;
    bool in_fields_ = false;
    bool http_1_0_ = false;
    bool has_length_ = false;
    bool has_chunked_ = false;
    bool has_coding_ = false;
    bool says_close_ = false;
    bool says_keep_alive_ = false;
};

// Characters of a field name (RFC 9110, section 5.6.2), and of a field value.
bool is_token(std::string_view text);
bool is_field_value(std::string_view text);

}  // namespace weir::upstream
