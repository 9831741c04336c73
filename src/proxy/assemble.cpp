#include "proxy/assemble.hpp"

#include "jsonrpc/write.hpp"

#include <algorithm>

namespace weir::proxy {
namespace {

// The frame's text before a value that is spliced from elsewhere.
struct Cut {
    std::size_t frame_end;
    std::string_view value;  // empty: none follows
};

using Cuts = boost::container::small_vector<Cut, 1>;

void append_reply(std::string& frame, Cuts& cuts, std::string_view id, const Answer& answer) {
    if (answer.kind() == Answer::Kind::gateway_error) {
        append_error_reply(frame, id, answer.error());
        return;
    }
    if (answer.kind() == Answer::Kind::result) {
        jsonrpc::append_result_head(frame, id);
    } else {
        jsonrpc::append_error_head(frame, id);
    }
    cuts.push_back({frame.size(), answer.json()});
    frame += '}';
}

// Views are taken only now that the frame does not grow any more.
ResponseBody cut_up(std::string frame, const Cuts& cuts) {
    ResponseBody body;
    body.frame = std::move(frame);
    body.pieces.reserve(2 * cuts.size() + 1);
    const std::string_view text = body.frame;
    std::size_t from = 0;
    for (const Cut& cut : cuts) {
        body.pieces.push_back(text.substr(from, cut.frame_end - from));
        body.pieces.push_back(cut.value);
        from = cut.frame_end;
    }
    body.pieces.push_back(text.substr(from));
    return body;
}

constexpr std::size_t kItem = 64;  // bytes of a batch's frame for an item, beside its id

bool needed_upstream(const BatchItem& item) {
    const auto& refusal = item.plan->refusal;
    return item.answer != nullptr && (!refusal || refusal->type == ErrorType::rate_limited) &&
           !item.plan->known && item.plan->access() != routing::Access::local;
}

// A result that was known without one counts beside those that the client's own rate refused.
bool is_refused_by_rate(const BatchItem& item) {
    return item.answer != nullptr && item.plan->refusal &&
           item.plan->refusal->type == ErrorType::rate_limited;
}

bool is_rate_limited(const Answer& answer) {
    return answer.kind() == Answer::Kind::gateway_error &&
           answer.error().type == ErrorType::rate_limited;
}

}  // namespace

ResponseBody assemble_single(std::string_view id, const Answer& answer) {
    using jsonrpc::Outcome;
    ResponseBody body;
    if (answer.kind() == Answer::Kind::gateway_error) {
        append_error_reply(body.frame, id, answer.error());
        body.pieces.push_back(body.frame);
        return body;
    }
    const bool good = answer.kind() == Answer::Kind::result;
    const auto pieces =
        jsonrpc::reply_pieces(id, good ? Outcome::result : Outcome::error, answer.json());
    body.pieces.assign(pieces.begin(), pieces.end());
    return body;
}

ResponseBody assemble_batch(std::span<const BatchItem> items) {
    std::string frame = "[";
    Cuts cuts;
    cuts.reserve(items.size());
    std::size_t size = 2;
    for (const BatchItem& item : items) {
        size += item.answer == nullptr ? 0 : kItem + item.plan->call->id.size();
    }
    frame.reserve(size);
    for (const BatchItem& item : items) {
        if (item.answer != nullptr) {
            if (frame.size() > 1) {
                frame += ',';
            }
            append_reply(frame, cuts, item.plan->call->id, *item.answer);
        }
    }
    frame += ']';
    return cut_up(std::move(frame), cuts);
}

std::size_t frame_size(std::span<const jsonrpc::Call> calls) {
    std::size_t size = 2;
    for (const jsonrpc::Call& call : calls) {
        size += kItem + call.id.size();
    }
    return size;
}

ResponseHead batch_head(std::span<const BatchItem> items) {
    ResponseHead head;
    const bool by_own_rate = std::any_of(items.begin(), items.end(), is_refused_by_rate);
    bool any = false;
    bool all_limited = true;
    unsigned wait = 0;
    for (const BatchItem& item : items) {
        if (item.answer != nullptr) {
            head.attempts += item.answer->attempts;
        }
        if (needed_upstream(item) || (by_own_rate && item.plan->known)) {
            any = true;
            if (is_rate_limited(*item.answer)) {
                wait = std::max(wait, item.answer->error().retry_after_seconds);
            } else {
                all_limited = false;
            }
        }
    }
    if (any && all_limited) {
        head.status = 429;
        head.retry_after_seconds = wait;
    }
    return head;
}

}  // namespace weir::proxy
