// The shape of a reply that no rule knew, fit to be kept and shown: what is the same each time.
#pragma once

#include "routing/verdict.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace weir::routing {

struct Shape {
    int status = 0;
    std::optional<std::int64_t> code;
    std::string wording;  // at most kLongestWording bytes

    friend auto operator<=>(const Shape&, const Shape&) = default;
};

constexpr std::size_t kLongestWording = 240;

// Of an error object, or of a body that is no reply: of a page its title, of other JSON nothing.
Shape shape_of(const HttpReply& reply);

// The same; `mask` replaces the secrets in a text before anything else in it is replaced.
using Mask = std::function<std::string(std::string_view)>;
Shape shape_of(const HttpReply& reply, const Mask& mask);

// Numbers become `#`, hex and words that look like keys `***`, addresses of the web `<url>`, and
// every run of blanks and of characters that cannot be seen one blank.
std::string scrub(std::string_view given);

}  // namespace weir::routing
