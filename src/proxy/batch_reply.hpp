// What an array's reply holds for each of its calls: matched by id, never by place. Pure.
#pragma once

#include "jsonrpc/reply.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::proxy {

struct BatchReply {
    // By call. Nothing: the reply holds none for it, or none that can be believed.
    std::vector<std::optional<jsonrpc::ArrayItem>> items;
    // An error that answers the array as a whole: an object, or errors without an id alone.
    std::optional<jsonrpc::Reply> whole;
    bool any = false;  // of `items`
};

// The calls were sent under the ids from `first_id` on. Two good answers under one id count for
// nothing unless they are the same bytes.
BatchReply read_batch_reply(std::string_view body, std::uint64_t first_id, std::size_t calls);

}  // namespace weir::proxy
