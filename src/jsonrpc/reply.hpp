// What an upstream sent back, taken apart while it passes: one checking scan, no tree.
#pragma once

#include "core/result.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::jsonrpc {

// A half-open range of byte offsets; `end` is `kOpen` while the value has not been read to its end.
struct Range {
    static constexpr std::size_t kOpen = std::numeric_limits<std::size_t>::max();
    std::size_t begin = 0;
    std::size_t end = kOpen;

    bool closed() const { return end != kOpen; }
    std::string_view of(std::string_view bytes) const { return bytes.substr(begin, end - begin); }
};

// The members of one reply object. Offsets count from the first byte fed. A member that stands
// twice, an id that is no scalar, or both a result and a non-null error makes the reply bad.
struct Envelope {
    std::optional<Range> id;
    std::optional<Range> result;
    std::optional<Range> error;
    bool error_is_null = false;
};

// Checks one reply object as its bytes come and says where its members stand. The bytes may come
// in pieces of any size; nothing of them is kept. Nesting is bounded by `max_depth`.
class EnvelopeScanner {
  public:
    enum class State { more, complete, broken };  // complete: the value ended, only blanks after it

    explicit EnvelopeScanner(std::size_t max_depth = 1024);
    ~EnvelopeScanner();
    EnvelopeScanner(EnvelopeScanner&&) noexcept;
    EnvelopeScanner& operator=(EnvelopeScanner&&) noexcept;

    // `broken` is final: not RFC 8259 JSON, not an object, or bad as `Envelope` says. A reply with
    // neither a result nor an error may be `complete`; to judge that is the caller's part.
    State feed(std::string_view bytes);
    State state() const;
    const Envelope& envelope() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// A reply read whole. `id`, `result` and `error` are raw bytes within the body; exactly one of
// `result` and `error` is set (`error: null` beside a result is a result).
struct Reply {
    std::string_view id;  // empty: no id
    std::string_view result;
    std::string_view error;

    bool is_error() const { return !error.empty(); }
};

// One reply object that fills `body`. Errors say what is wrong with it, without its bytes.
core::Result<Reply> parse_reply(std::string_view body);

// The items of a reply array that fills `body`, taken apart in the same scan: what parse_reply()
// would say of each; nothing for an item that is no good reply. The whole is checked; items beyond
// the first `most` are not kept.
struct ArrayItem {
    std::string_view raw;
    std::optional<Reply> reply;
};
core::Result<std::vector<ArrayItem>> parse_reply_array(std::string_view body, std::size_t most);

// The items of a reply array that fills `body`, each as raw bytes; the whole is checked.
core::Result<std::vector<std::string_view>> split_array(std::string_view body);

// An error object's members; a part that is missing or of another type stays empty. An error that
// is a bare string, as some providers send it, is a message without a code.
struct ErrorObject {
    std::optional<std::int64_t> code;  // a number, or a string that holds one
    std::string message;               // decoded
    std::string_view data;             // raw bytes
};
ErrorObject read_error(std::string_view error);

}  // namespace weir::jsonrpc
