// Text from anywhere made safe for one log line.
#pragma once

#include <string>
#include <string_view>

namespace weir::telemetry {

// Appends `text` as the inside of a JSON string (RFC 8259), without the quotes. A character that a
// terminal obeys, that cannot be seen or that turns the text around it becomes \uXXXX; each maximal
// piece of invalid UTF-8 becomes U+FFFD.
void append_escaped(std::string& out, std::string_view text);

// The same with quotes around it.
void append_json_string(std::string& out, std::string_view text);

// A value of a `key=value` line: bare where it reads as one word, quoted and escaped otherwise.
void append_text_value(std::string& out, std::string_view text);

}  // namespace weir::telemetry
