// JSON-RPC in tests: calls written, replies read as raw bytes.
#pragma once

#include "jsonrpc/value.hpp"

#include <string>
#include <string_view>

namespace weir::test {

inline std::string rpc(std::string_view method, std::string_view params = "[]",
                       std::string_view id = "1") {
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) +
           R"(","params":)" + std::string(params) + "}";
}

inline std::string notification(std::string_view method, std::string_view params = "[]") {
    return R"({"jsonrpc":"2.0","method":")" + std::string(method) + R"(","params":)" +
           std::string(params) + "}";
}

// Raw bytes of a reply's members; empty for one that is not there.
inline std::string id_of(std::string_view reply) {
    return std::string(jsonrpc::member(reply, "id"));
}
inline std::string result_of(std::string_view reply) {
    return std::string(jsonrpc::member(reply, "result"));
}
inline std::string error_of(std::string_view reply) {
    return std::string(jsonrpc::member(reply, "error"));
}
inline std::string code_of(std::string_view reply) {
    return std::string(jsonrpc::member(jsonrpc::member(reply, "error"), "code"));
}

// `data.type` of an error that the gateway made; empty for any other reply.
inline std::string type_of(std::string_view reply) {
    const std::string_view data = jsonrpc::member(jsonrpc::member(reply, "error"), "data");
    return jsonrpc::string_value(jsonrpc::member(data, "type")).value_or("");
}

inline std::string item(std::string_view array, std::size_t index) {
    return std::string(jsonrpc::element(array, index));
}

}  // namespace weir::test
