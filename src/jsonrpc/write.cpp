#include "jsonrpc/write.hpp"

#include "jsonrpc/value.hpp"

#include <charconv>
#include <limits>

namespace weir::jsonrpc {
namespace {

template <class Number>
void append_number(std::string& out, Number number) {
    char digits[std::numeric_limits<Number>::digits10 + 2];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    out.append(digits, end);
}

void append_reply_head(std::string& out, std::string_view id, std::string_view member) {
    out += R"({"jsonrpc":"2.0","id":)";
    out += id.empty() ? std::string_view("null") : id;
    out += member;
}

}  // namespace

void append_call_head(std::string& out, std::uint64_t id, std::string_view method, Params params) {
    out += R"({"jsonrpc":"2.0","id":)";
    append_number(out, id);
    out += R"(,"method":)";
    append_string(out, method);
    if (params == Params::follow) out += R"(,"params":)";
}

void append_result_head(std::string& out, std::string_view id) {
    append_reply_head(out, id, R"(,"result":)");
}

void append_error_head(std::string& out, std::string_view id) {
    append_reply_head(out, id, R"(,"error":)");
}

void append_error(std::string& out, std::string_view id, int code, std::string_view message,
                  std::string_view data) {
    append_error_head(out, id);
    out += R"({"code":)";
    append_number(out, code);
    out += R"(,"message":)";
    append_string(out, message);
    if (!data.empty()) {
        out += R"(,"data":)";
        out += data;
    }
    out += "}}";
}

}  // namespace weir::jsonrpc
