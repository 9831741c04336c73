#include "proxy/pin_wish.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <string>

namespace weir::proxy {
namespace {

constexpr const char* kUnreadable =
    "the block reference cannot be read: it is latest, safe, finalized, 0x<number>, 0x<hash>, or "
    "the <number>;<hash> of an earlier answer";
constexpr const char* kDifferent = "the request names two different blocks";
constexpr const char* kPlaces = "Weir-Optional is a list of places in the batch: 2,3";

int hex_digit(char c) {
    const char lower = core::to_lower(c);
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Percent-encoding (RFC 3986, 2.1). What is no encoding stands for itself.
std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            const int high = hex_digit(text[i + 1]);
            const int low = hex_digit(text[i + 2]);
            if (high >= 0 && low >= 0) {
                out += static_cast<char>(16 * high + low);
                i += 2;
                continue;
            }
        }
        out += text[i];
    }
    return out;
}

// Takes the text up to the next `mark` off `rest`.
std::string_view next_part(std::string_view& rest, char mark) {
    const std::size_t end = std::min(rest.find(mark), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
}

// Every value of `block`.
std::vector<std::string> named_in(std::string_view query) {
    std::vector<std::string> values;
    while (!query.empty()) {
        std::string_view value = next_part(query, '&');
        if (decoded(next_part(value, '=')) == "block") {
            values.push_back(decoded(value));
        }
    }
    return values;
}

std::optional<std::vector<std::size_t>> read_places(std::string_view text) {
    std::vector<std::size_t> places;
    while (!text.empty()) {
        const auto place = core::parse_decimal(core::trim(next_part(text, ',')));
        if (!place) {
            return std::nullopt;
        }
        places.push_back(static_cast<std::size_t>(*place));
    }
    return places;
}

}  // namespace

core::Result<std::shared_ptr<const PinWish>, const char*> read_pin_wish(const PinWords& words) {
    std::vector<std::string> named = named_in(words.query);
    if (words.block) {
        named.emplace_back(*words.block);
    }
    if (named.empty()) {
        return std::shared_ptr<const PinWish>();
    }
    const auto wish = std::make_shared<PinWish>();
    for (std::size_t i = 0; i < named.size(); ++i) {
        const auto block = chain::parse_block_ref(named[i]);
        if (!block) {
            return kUnreadable;
        }
        if (i > 0 && *block != wish->block) {
            return kDifferent;
        }
        wish->block = *block;
    }
    if (words.optional) {
        auto places = read_places(*words.optional);
        if (!places) {
            return kPlaces;
        }
        wish->optional = std::move(*places);
    }
    return std::shared_ptr<const PinWish>(wish);
}

}  // namespace weir::proxy
