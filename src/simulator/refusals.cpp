// How providers say no, in their own shapes.
#include "simulator/reply.hpp"

#include <array>
#include <cstddef>
#include <ctime>

namespace weir::simulator {
namespace {

std::string error_reply(std::string_view id, std::string_view error) {
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":)" + std::string(error) +
           "}";
}

// One object for a call; for a batch one per call.
std::string error_for_all(const std::vector<std::string>& ids, Packing packing,
                          std::string_view error) {
    if (packing == Packing::single) {
        return error_reply(ids.empty() ? "null" : ids.front(), error);
    }
    std::string out = "[";
    for (std::size_t i = 0; i < ids.size(); ++i) {
        out += i == 0 ? "" : ",";
        out += error_reply(ids[i], error);
    }
    return out + "]";
}

// RFC 9110, 5.6.7.
std::string http_date(core::WallTime time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts = {};
    gmtime_r(&seconds, &parts);
    std::array<char, 64> text{};
    const std::size_t length =
        std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return {text.data(), length};
}

}  // namespace

Reply html_reply(int status) {
    Reply reply;
    reply.status = status;
    reply.content_type = "text/html; charset=UTF-8";
    reply.body = "<!DOCTYPE html>\n<html><head><title>Sorry</title></head><body><h1>" +
                 std::to_string(status) + "</h1><p>Something went wrong.</p></body></html>\n";
    return reply;
}

Reply throttled_reply(const Throttle& throttle, const std::vector<std::string>& ids,
                      Packing packing, core::WallTime now) {
    const std::string wait = std::to_string(throttle.wait.count());
    constexpr std::string_view kExceeded =
        R"({"code":429,"message":"Your app has exceeded its compute units per second capacity."})";
    Reply reply;
    switch (throttle.shape) {
        case ThrottleShape::http_429:
            reply.status = 429;
            reply.headers = {{"Retry-After", wait}};
            reply.body = error_reply(ids.empty() ? "null" : ids.front(), kExceeded);
            break;
        case ThrottleShape::http_429_date:
            reply.status = 429;
            reply.headers = {{"Date", http_date(now)},
                             {"Retry-After", http_date(now + throttle.wait)}};
            reply.body = error_reply("null", kExceeded);
            break;
        case ThrottleShape::backoff_field:
            reply.status = 429;
            reply.body = error_for_all(
                ids, packing,
                R"({"code":-32005,"message":"project ID request rate exceeded","data":{"rate":)"
                R"({"backoff_seconds":)" +
                    wait + "}}}");
            break;
        case ThrottleShape::code_in_200:
            reply.body = error_for_all(ids, packing,
                                       R"({"code":-32005,"message":"You've exceeded the RPS limit )"
                                       R"(available on the current plan."})");
            break;
        case ThrottleShape::wording_in_200:
            reply.body = error_reply(
                "null", R"({"code":-32090,"message":"Too many requests, reason: call rate limit )"
                        R"(exhausted, retry in )" +
                            wait + R"(s"})");
            break;
        case ThrottleShape::cloudflare_html:
            reply = html_reply(429);
            reply.headers = {{"Retry-After", wait}};
            break;
        case ThrottleShape::cloudflare_text:
            reply.content_type = "text/plain; charset=UTF-8";
            reply.body = "error code: 1015";
            break;
    }
    return reply;
}

Reply batch_refused_reply(const BatchLimit& limit) {
    const std::string most = std::to_string(limit.max_calls);
    Reply reply;
    switch (limit.refusal) {
        case BatchRefusal::object_413:
            reply.status = 413;
            reply.body = error_reply(
                "null", R"({"code":-32014,"message":"too many RPC calls in batch request"})");
            break;
        case BatchRefusal::object_500:
            reply.status = 500;
            reply.body = error_reply("null", R"({"code":31,"message":"Batch of more than )" + most +
                                                 R"( requests are not allowed on free tier"})");
            break;
        case BatchRefusal::object_200:
            reply.body =
                error_reply("null", R"({"code":-32010,"message":"The batch request was too large",)"
                                    R"("data":"Exceeded max limit of )" +
                                        most + R"("})");
            break;
        case BatchRefusal::array_of_one:
            reply.body = error_for_all({"null"}, Packing::batch,
                                       R"({"code":-32600,"message":"batch too large"})");
            break;
        case BatchRefusal::silence:  // no reply of its own
            break;
    }
    return reply;
}

}  // namespace weir::simulator
