#include "server/json_writer.hpp"

#include "jsonrpc/value.hpp"

#include <array>
#include <charconv>
#include <system_error>

namespace weir::server {

void JsonWriter::open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
}

void JsonWriter::close(char bracket) {
    out_ += bracket;
    first_ = false;
}

void JsonWriter::key(std::string_view name) {
    separate();
    jsonrpc::append_string(out_, name);
    out_ += ':';
    first_ = true;
}

void JsonWriter::value(std::string_view text) {
    separate();
    jsonrpc::append_string(out_, text);
}

void JsonWriter::value(double number) {
    std::array<char, 64> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                            std::chars_format::fixed, 3);
    raw(error == std::errc{} ? std::string_view(digits.data(), end) : "null");
}

void JsonWriter::separate() {
    if (!first_) {
        out_ += ',';
    }
    first_ = false;
}

void JsonWriter::raw(std::string_view json) {
    separate();
    out_ += json;
}

}  // namespace weir::server
