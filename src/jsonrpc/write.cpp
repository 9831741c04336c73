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

constexpr std::string_view kHead = R"({"jsonrpc":"2.0","id":)";
constexpr std::string_view kResult = R"(,"result":)";
constexpr std::string_view kError = R"(,"error":)";

std::string_view shown(std::string_view id) { return id.empty() ? std::string_view("null") : id; }

void append_reply_head(std::string& out, std::string_view id, std::string_view member) {
    out += kHead;
    out += shown(id);
    out += member;
}

}  // namespace

void append_call_head(std::string& out, std::uint64_t id, std::string_view method, Params params) {
    out += kHead;
    append_number(out, id);
    out += R"(,"method":)";
    append_string(out, method);
    if (params == Params::follow) out += R"(,"params":)";
}

CallPieces::CallPieces(std::uint64_t id, std::string_view method, std::string_view params)
    : pieces_{kHead, {}, R"(,"method":")", method, R"(")", {}, "}"} {
    const char* const end = std::to_chars(digits_.data(), digits_.data() + digits_.size(), id).ptr;
    pieces_[1] = {digits_.data(), static_cast<std::size_t>(end - digits_.data())};
    if (!params.empty()) {
        pieces_[4] = R"(","params":)";
        pieces_[5] = params;
    }
}

std::array<std::string_view, 5> reply_pieces(std::string_view id, Outcome outcome,
                                             std::string_view value) {
    return {kHead, shown(id), outcome == Outcome::result ? kResult : kError, value, "}"};
}

void append_result_head(std::string& out, std::string_view id) {
    append_reply_head(out, id, kResult);
}

void append_error_head(std::string& out, std::string_view id) {
    append_reply_head(out, id, kError);
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
