#include "server/observations_json.hpp"

#include "jsonrpc/value.hpp"

#include <chrono>
#include <ctime>
#include <string_view>

namespace weir::server {
namespace {

std::string utc(core::WallTime time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    std::string text(32, '\0');
    if (gmtime_r(&seconds, &parts) == nullptr) {
        return {};
    }
    text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
    return text;
}

void append_text(std::string& out, std::string_view name, std::string_view value) {
    jsonrpc::append_string(out, name);
    out += ':';
    jsonrpc::append_string(out, value);
    out += ',';
}

void append_number(std::string& out, std::string_view name, const std::string& value) {
    jsonrpc::append_string(out, name);
    out += ':' + value + ',';
}

void append_shape(std::string& out, const proxy::ObservedShape& seen) {
    out += '{';
    append_text(out, "chain", seen.chain);
    append_text(out, "upstream", seen.upstream);
    append_text(out, "provider", seen.provider);
    append_number(out, "status", std::to_string(seen.shape.status));
    append_number(out, "code", seen.shape.code ? std::to_string(*seen.shape.code) : "null");
    append_text(out, "wording", seen.shape.wording);
    append_number(out, "count", std::to_string(seen.count));
    append_text(out, "first_seen", utc(seen.first_seen));
    append_text(out, "last_seen", utc(seen.last_seen));
    out.back() = '}';
}

}  // namespace

std::string observations_json(const std::vector<proxy::ObservedShape>& shapes,
                              std::uint64_t forgotten) {
    std::string out = R"({"observations":[)";
    for (const proxy::ObservedShape& shape : shapes) {
        if (&shape != &shapes.front()) {
            out += ',';
        }
        append_shape(out, shape);
    }
    return out + R"(],"forgotten":)" + std::to_string(forgotten) + '}';
}

}  // namespace weir::server
