// One HTTP reply of a simulated provider, and its bytes on the wire, right or wrong on purpose.
#pragma once

#include "simulator/script.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::simulator {

struct Reply {
    int status = 200;
    std::string content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers;  // beyond type, length and connection
    std::string body;
};

// What to write, and what follows it.
struct Wire {
    enum class Then {
        keep_open,
        close,
        stall,  // say nothing more until the peer leaves
        go_on,  // write `bytes_again` until the peer leaves
    };
    std::string bytes;
    Then then = Then::keep_open;
    std::string bytes_again;
};

// The reply as it goes out; with a crooked one, what is wrong with it comes in here or, for those
// that concern the JSON, has come in by crooked_body().
Wire to_wire(Reply reply, Framing framing, Crooked crooked);

// A body of one reply object, `member` being `"result":...` or `"error":...`. `id` is raw.
std::string crooked_body(std::string_view id, std::string_view member, Crooked crooked);

// The refusals. `ids` are those of the calls, raw; `is_batch` says whether they came in an array.
enum class Packing { single, batch };
Reply throttled_reply(const Throttle& throttle, const std::vector<std::string>& ids,
                      Packing packing, core::WallTime now);
Reply batch_refused_reply(const BatchLimit& limit);
Reply html_reply(int status);

}  // namespace weir::simulator
