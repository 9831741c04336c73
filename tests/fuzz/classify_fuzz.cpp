// Judges any bytes as a reply: no crash, no hang, and what no client may bring about by the words
// of its call does not come about.
#include "config/providers.hpp"
#include "jsonrpc/reply.hpp"
#include "jsonrpc/value.hpp"
#include "routing/classify.hpp"
#include "routing/shape.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace weir;
using namespace weir::routing;

namespace {

const ProviderBook& book() {
    static const ProviderBook kBook(config::built_in_providers());
    return kBook;
}

void check(bool good) {
    if (!good) {
        std::abort();
    }
}

Verdict judge(std::string_view provider, const CallSent& call, int status, std::string_view body) {
    HttpReply reply;
    reply.head.status = status;
    reply.body = body;
    const auto parsed = jsonrpc::parse_reply(body);
    if (parsed) {
        reply.reply = *parsed;
    }
    const Verdict verdict = classify(book().get(provider), call, reply);
    check(!reply.reply || reply.reply->is_error() || verdict.cause == Cause::answered ||
          (status >= 300 && status < 400));
    check(!verdict.retry_after || *verdict.retry_after > core::Duration::zero());
    check(shape_of(reply).wording.size() <= kLongestWording);
    return verdict;
}

}  // namespace

// The first two bytes choose profile, method, status and what was sent; the rest is the body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    constexpr std::string_view kProfiles[] = {"generic", "alchemy", "infura",
                                              "drpc",    "base",    "bsc"};
    constexpr std::string_view kMethods[] = {"eth_call", "eth_getLogs", "eth_sendRawTransaction",
                                             "anvil_mine"};
    constexpr int kStatus[] = {200, 400, 401, 402, 403, 408, 413, 429, 500, 503, 302};
    const std::string body(data + 2, data + size);
    const std::string_view method = kMethods[data[1] % 4];
    const CallSent call{.method = method,
                        .traits = find_method(method),
                        .params = R"(["0x1","latest"])",
                        .message = (data[0] & 0x80) != 0 ? Message::batch : Message::single};
    judge(kProfiles[data[0] % 6], call, kStatus[data[1] / 4 % 11], body);

    // The same text as a string of the params, quoted back by a node.
    std::string quoted = "[";
    jsonrpc::append_string(quoted, body);
    quoted += ']';
    std::string error = R"({"id":1,"error":{"code":-32000,"message":)";
    jsonrpc::append_string(error, body);
    error += "}}";
    const CallSent hostile{.method = "eth_call",
                           .traits = find_method("eth_call"),
                           .params = quoted,
                           .message = Message::single};
    const Cause cause = judge("generic", hostile, 200, error).cause;
    check(cause != Cause::rate_limited && cause != Cause::quota_exhausted);
    return 0;
}
