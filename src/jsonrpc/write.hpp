// Calls and replies back to bytes. What was received is spliced as it came.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir::jsonrpc {

// `{"jsonrpc":"2.0","id":N,"method":"...","params":` — without params and the closing brace, so
// that the params go out from where they lie. With `has_params` false it ends before `,"params":`.
enum class Params { none, follow };
void append_call_head(std::string& out, std::uint64_t id, std::string_view method, Params params);

// A call as the pieces that go out one after another. `method` is a name as parse_request() lets
// pass, with nothing in it to be escaped; empty params are left out.
class CallPieces {
  public:
    CallPieces(std::uint64_t id, std::string_view method, std::string_view params);
    CallPieces(const CallPieces&) = delete;
    CallPieces& operator=(const CallPieces&) = delete;

    std::span<const std::string_view> get() const { return pieces_; }

  private:
    std::array<char, 20> digits_;
    std::array<std::string_view, 7> pieces_;
};

// A reply in the same way, with the raw value of the member that is named.
enum class Outcome { result, error };
std::array<std::string_view, 5> reply_pieces(std::string_view id, Outcome outcome,
                                             std::string_view value);

// `{"jsonrpc":"2.0","id":<id>,"result":` and the error form. An empty id is written as null.
void append_result_head(std::string& out, std::string_view id);
void append_error_head(std::string& out, std::string_view id);

// A whole error reply; `data` is raw JSON or empty.
void append_error(std::string& out, std::string_view id, int code, std::string_view message,
                  std::string_view data);

}  // namespace weir::jsonrpc
