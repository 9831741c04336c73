// A peer's text as it may be shown to people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::core {

// Of a code point: a terminal obeys it, it cannot be seen, or it turns the direction of what stands
// around it.
bool is_unseen(std::uint32_t code);

// With a blank in place of each such character, and of what is no UTF-8.
std::string harmless(std::string_view text);

// Shortens UTF-8 to at most so many bytes, between two characters.
void cut_between_characters(std::string& text, std::size_t longest);

}  // namespace weir::core
