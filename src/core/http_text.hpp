// What HTTP/1.1 allows in the parts of a message's head (RFC 9110, RFC 9112).
#pragma once

#include "core/text.hpp"

#include <algorithm>
#include <string_view>

namespace weir::core {

bool is_token_char(char c);
bool is_token(std::string_view text);  // not empty

// May `text` be a field's value, or a reason? No controls but the tab.
bool is_field_value(std::string_view text);

// Calls `visit` with each trimmed, non-empty element of a comma-separated list.
template <class Visit>
void for_each_element(std::string_view list, Visit visit) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view element = trim(list.substr(0, comma));
        if (!element.empty()) {
            visit(element);
        }
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
}

}  // namespace weir::core
