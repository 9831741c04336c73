// Raw HTTP requests, good and crooked, and what the server has to make of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::test {

struct FramingCase {
    // Who decides: the head's parser, the site's rules, or the body's decoder.
    enum class Layer : std::uint8_t { head, rules, body };
    enum class After : std::uint8_t { open, closed };

    std::string name;
    std::string bytes;
    int status = 200;
    After after = After::open;
    Layer layer = Layer::head;
    std::string body = {};  // what the handler has to see, with status 200
};

// A body that a smuggled request would carry: no handler may ever see it.
extern const std::string kSmuggled;

std::vector<FramingCase> framing_cases();

// A whole POST of `body`, as a usual client sends it.
std::string plain_post(const std::string& body);

}  // namespace weir::test
