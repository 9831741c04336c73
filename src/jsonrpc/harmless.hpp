// A peer's text as it may be shown to people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::jsonrpc {

// With a blank in place of each character that a terminal obeys, that cannot be seen or that turns
// the direction of what stands around it, and of each byte that is no UTF-8.
std::string harmless(std::string_view text);

// Shortens UTF-8 to at most so many bytes, between two characters.
void cut_between_characters(std::string& text, std::size_t longest);

}  // namespace weir::jsonrpc
