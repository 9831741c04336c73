// Encodings that a configuration's values go through: UTF-8, percent-encoding, base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::config {

// Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

enum class HexCase { lower, upper };

// RFC 3986: everything but letters, digits, `-`, `.`, `_`, `~` as `%` and two hex digits.
std::string percent_encode(std::string_view text, HexCase digits);

// The bytes behind the escapes; nothing where a `%` is not followed by two hex digits.
std::optional<std::string> percent_decode(std::string_view text);

std::string base64(std::string_view bytes);  // RFC 4648 section 4, padded

}  // namespace weir::config
