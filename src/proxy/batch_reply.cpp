#include "proxy/batch_reply.hpp"

#include "jsonrpc/value.hpp"
#include "proxy/attempt.hpp"

#include <utility>

namespace weir::proxy {
namespace {

// Of a reply's items, looked at: more than there are calls, as some may be strays.
std::size_t most_items(std::size_t calls) { return 2 * calls + 16; }

bool is_anonymous_error(const jsonrpc::Reply& reply) {
    return reply.is_error() && (reply.id.empty() || jsonrpc::is_null(reply.id));
}

// The place of the call that an id of a reply belongs to; `calls` for no call's.
std::size_t place_of(std::string_view id, std::uint64_t first_id, std::size_t calls) {
    const auto number = number_of(id);
    return number && *number >= first_id && *number - first_id < calls
               ? static_cast<std::size_t>(*number - first_id)
               : calls;
}

BatchReply read_object(std::string_view body, std::uint64_t first_id, std::size_t calls) {
    BatchReply read;
    read.items.resize(calls);
    const core::Result<jsonrpc::Reply> reply = jsonrpc::parse_reply(body);
    if (reply && reply->is_error() &&
        (is_anonymous_error(*reply) || place_of(reply->id, first_id, calls) < calls)) {
        read.whole = *reply;
    }
    return read;
}

}  // namespace

BatchReply read_batch_reply(std::string_view body, std::uint64_t first_id, std::size_t calls) {
    const auto array = jsonrpc::parse_reply_array(body, most_items(calls));
    if (!array) {
        return read_object(body, first_id, calls);
    }
    BatchReply read;
    read.items.resize(calls);
    std::vector<bool> contradicted(calls);
    std::optional<jsonrpc::Reply> anonymous;
    for (const jsonrpc::ArrayItem& item : *array) {
        if (!item.reply) {
            continue;
        }
        const std::size_t place = place_of(item.reply->id, first_id, calls);
        if (place == calls) {
            if (!anonymous && is_anonymous_error(*item.reply)) {
                anonymous = item.reply;
            }
            continue;
        }
        std::optional<jsonrpc::ArrayItem>& slot = read.items[place];
        contradicted[place] =
            contradicted[place] || (slot && (slot->reply->result != item.reply->result ||
                                             slot->reply->error != item.reply->error));
        slot = item;
        read.any = true;
    }
    if (!read.any) {
        read.whole = anonymous;
        return read;
    }
    for (std::size_t place = 0; place < calls; ++place) {
        if (contradicted[place]) {
            read.items[place].reset();
        }
    }
    return read;
}

}  // namespace weir::proxy
