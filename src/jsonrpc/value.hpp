// Looking into JSON that was already checked: an element of params, a member of an object. Views of
// raw bytes in, views of raw bytes out. Unchecked or broken input gives empty answers, never a
// crash.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::jsonrpc {

// The raw bytes of element `index` of an array; empty when there is none. Reads no further.
std::string_view element(std::string_view array, std::size_t index);

// The number of elements of an array; 0 for anything else.
std::size_t element_count(std::string_view array);

// The raw bytes of the last member named `name` (decoded) of an object; empty when there is none.
std::string_view member(std::string_view object, std::string_view name);

// The first members of an object in its order, `most` of them at most, each name decoded and each
// value as raw bytes; empty for anything else.
struct Member {
    std::string name;
    std::string_view value;
    std::string_view whole;  // the name's quote to the value's end
};
std::vector<Member> members(std::string_view object, std::size_t most);

// A JSON string decoded to UTF-8; nothing for any other value. Lone surrogates become U+FFFD.
std::optional<std::string> string_value(std::string_view value);

// A JSON string without escapes, as a view of the bytes between its quotes; nothing for any other.
std::optional<std::string_view> plain_string(std::string_view value);

inline bool is_string(std::string_view value) { return value.starts_with('"'); }
inline bool is_object(std::string_view value) { return value.starts_with('{'); }
inline bool is_array(std::string_view value) { return value.starts_with('['); }
inline bool is_null(std::string_view value) { return value == "null"; }

// Is `text` one RFC 8259 value with nothing after it?
bool is_valid(std::string_view text, std::size_t max_depth = 1024);

// Appends `text` as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
void append_string(std::string& out, std::string_view text);

}  // namespace weir::jsonrpc
