// Small questions about text, ASCII only, as HTTP and method names need them.
#pragma once

#include <string>
#include <string_view>

namespace weir::core {

constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string to_lower(std::string_view text);
bool iequals(std::string_view a, std::string_view b);
std::string_view trim(std::string_view text);  // of blanks and tabs at both ends; a part of `text`

// Does `text` match `pattern`, in which `*` stands for any run of characters? Case is ignored.
// Time is linear in the product of the lengths; the pattern is an operator's, the text a client's.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace weir::core
