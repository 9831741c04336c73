// Calls and replies back to bytes. What was received is spliced as it came.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::jsonrpc {

// `{"jsonrpc":"2.0","id":N,"method":"...","params":` — without params and the closing brace, so
// that the params go out from where they lie. With `has_params` false it ends before `,"params":`.
enum class Params { none, follow };
void append_call_head(std::string& out, std::uint64_t id, std::string_view method, Params params);

// `{"jsonrpc":"2.0","id":<id>,"result":` and the error form. An empty id is written as null.
void append_result_head(std::string& out, std::string_view id);
void append_error_head(std::string& out, std::string_view id);

// A whole error reply; `data` is raw JSON or empty.
void append_error(std::string& out, std::string_view id, int code, std::string_view message,
                  std::string_view data);

}  // namespace weir::jsonrpc
