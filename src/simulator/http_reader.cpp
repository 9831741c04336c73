#include "simulator/http_reader.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"

#include <optional>
#include <utility>

namespace weir::simulator {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// The value of a header field, trimmed; nothing when it is not there.
std::optional<std::string_view> field(std::string_view head, std::string_view name) {
    std::size_t at = head.find(kLineEnd);
    while (at != std::string_view::npos) {
        const std::size_t begin = at + kLineEnd.size();
        at = head.find(kLineEnd, begin);
        const std::string_view line = head.substr(begin, at - begin);
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && core::iequals(line.substr(0, colon), name)) {
            return core::trim(line.substr(colon + 1));
        }
    }
    return std::nullopt;
}

}  // namespace

HttpReader::State HttpReader::next() {
    constexpr std::string_view kHeadEnd = "\r\n\r\n";
    const std::size_t head_end = buffer_.find(kHeadEnd);
    if (head_end == std::string::npos) {
        return buffer_.size() > kMaxHead ? State::broken : State::more;
    }
    const std::string_view head = std::string_view(buffer_).substr(0, head_end);
    const std::size_t body = head_end + kHeadEnd.size();
    keep_alive_ = !core::iequals(field(head, "Connection").value_or(""), "close");
    if (field(head, "Transfer-Encoding")) {
        return read_chunked(body);
    }
    const auto length = core::parse_decimal(field(head, "Content-Length").value_or("0"));
    if (!length || *length > kMaxBody) {
        return State::broken;
    }
    if (buffer_.size() - body < *length) {
        return State::more;
    }
    message_ = {std::string(head), buffer_.substr(body, *length)};
    return finish(body + *length);
}

HttpReader::State HttpReader::read_chunked(std::size_t body) {
    std::string decoded;
    std::size_t at = body;
    while (true) {
        const std::size_t line_end = buffer_.find(kLineEnd, at);
        if (line_end == std::string::npos) {
            return buffer_.size() - body > kMaxBody ? State::broken : State::more;
        }
        const std::string line = buffer_.substr(at, line_end - at);
        const auto size = core::parse_quantity("0x" + line.substr(0, line.find(';')));
        if (!size || *size > kMaxBody - decoded.size()) {
            return State::broken;
        }
        const std::size_t data = line_end + kLineEnd.size();
        const std::size_t end = data + *size + kLineEnd.size();
        if (buffer_.size() < end) {
            return State::more;
        }
        if (*size == 0) {
            message_ = {buffer_.substr(0, body), std::move(decoded)};
            return finish(end);
        }
        decoded += buffer_.substr(data, *size);
        at = end;
    }
}

HttpReader::State HttpReader::finish(std::size_t end) {
    buffer_.erase(0, end);
    return State::ready;
}

}  // namespace weir::simulator
