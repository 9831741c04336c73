#include "server/transaction_json.hpp"

#include "routing/verdict.hpp"
#include "server/json_writer.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace weir::server {
namespace {

// RFC 3339 in UTC with milliseconds.
std::string timestamp(core::WallTime at) {
    const auto since = std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch());
    const auto second = std::chrono::floor<std::chrono::seconds>(since);
    const std::time_t time = second.count();
    std::tm parts = {};
    gmtime_r(&time, &parts);
    char text[64];
    const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    char fraction[8];
    std::snprintf(fraction, sizeof fraction, ".%03dZ", static_cast<int>((since - second).count()));
    return std::string(text, length) + fraction;
}

}  // namespace

std::string transaction_json(const proxy::TransactionRecords::View& record) {
    JsonWriter out;
    out.open('{');
    out.key("hash");
    out.value(record.hash);
    out.key("outcome");
    out.value(proxy::to_string(record.outcome));
    out.key("events");
    out.open('[');
    for (const proxy::WriteEvent& event : record.events) {
        out.open('{');
        out.key("at");
        out.value(timestamp(event.at));
        out.key("upstream");
        out.value(event.upstream);
        out.key("event");
        out.value(event.event);
        out.key("cause");
        if (event.cause) {
            out.value(routing::to_string(*event.cause));
        } else {
            out.null();
        }
        out.close('}');
    }
    out.close(']');
    out.close('}');
    return out.take();
}

}  // namespace weir::server
