// Replies to bytes, right or wrong on purpose.
#include "simulator/reply.hpp"

#include <algorithm>
#include <array>

namespace weir::simulator {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

std::string head_of(const Reply& reply) {
    std::string out = "HTTP/1.1 " + std::to_string(reply.status) + " Simulated\r\n";
    if (!reply.content_type.empty()) {
        out += "Content-Type: " + reply.content_type + "\r\n";
    }
    for (const auto& [name, value] : reply.headers) {
        out += name + ": " + value + "\r\n";
    }
    return out;
}

std::string length_field(std::size_t length) {
    return "Content-Length: " + std::to_string(length) + "\r\n";
}

std::string hex(std::size_t value) {
    std::string out;
    do {
        out.insert(out.begin(), "0123456789abcdef"[value % 16]);
        value /= 16;
    } while (value != 0);
    return out;
}

std::string chunked(std::string_view body) {
    constexpr std::size_t kChunk = 16 * 1024;
    std::string out;
    for (std::size_t at = 0; at < body.size(); at += kChunk) {
        const std::string_view piece = body.substr(at, kChunk);
        out += hex(piece.size()) + "\r\n";
        out += piece;
        out += "\r\n";
    }
    return out + "0\r\n\r\n";
}

std::string framed(const Reply& reply, Framing framing) {
    if (framing == Framing::chunked) {
        return head_of(reply) + "Transfer-Encoding: chunked" + std::string(kEndOfHead) +
               chunked(reply.body);
    }
    return head_of(reply) + length_field(reply.body.size()) + "\r\n" + reply.body;
}

std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const char c : bytes) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
        }
    }
    return ~crc;
}

void append_little(std::string& out, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
        out += static_cast<char>((value >> static_cast<unsigned>(8 * i)) & 0xFFU);
    }
}

// RFC 1952 around RFC 1951 stored blocks: gzip without compressing.
std::string gzip(std::string_view body) {
    constexpr std::size_t kBlock = 65535;
    std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    std::size_t at = 0;
    do {
        const std::string_view piece = body.substr(at, kBlock);
        at += piece.size();
        const auto length = static_cast<std::uint32_t>(piece.size());
        out += at == body.size() ? '\1' : '\0';
        append_little(out, length, 2);
        append_little(out, ~length, 2);
        out += piece;
    } while (at < body.size());
    append_little(out, crc32(body), 4);
    append_little(out, static_cast<std::uint32_t>(body.size()), 4);
    return out;
}

// All of the head and half of the body.
std::string first_half(const std::string& message) {
    const std::size_t body = message.find(kEndOfHead) + kEndOfHead.size();
    return message.substr(0, body + (message.size() - body) / 2);
}

Wire endless(const Reply& reply) {
    const std::string head =
        head_of(reply) + "Transfer-Encoding: chunked" + std::string(kEndOfHead);
    const std::string_view start = R"({"jsonrpc":"2.0","padding":")";
    const std::string filler(16 * 1024, 'x');
    return {head + hex(start.size()) + "\r\n" + std::string(start) + "\r\n", Wire::Then::go_on,
            hex(filler.size()) + "\r\n" + filler + "\r\n"};
}

Wire with_lengths(const Reply& reply, std::initializer_list<std::size_t> lengths, Wire::Then then) {
    std::string out = head_of(reply);
    for (const std::size_t length : lengths) {
        out += length_field(length);
    }
    return {out + "\r\n" + reply.body, then, ""};
}

void corrupt_middle(std::string& body, char wrong) {
    if (!body.empty()) {
        body[body.size() / 2] = wrong;
    }
}

}  // namespace

Wire to_wire(Reply reply, Framing framing, Crooked crooked) {
    const std::size_t size = reply.body.size();
    switch (crooked) {
        case Crooked::html:
            reply = html_reply(200);
            break;
        case Crooked::two_values:
            reply.body += reply.body;
            break;
        case Crooked::cut_json:
            reply.body.resize(size / 2);
            break;
        case Crooked::broken_json:
            corrupt_middle(reply.body, '\x01');
            break;
        case Crooked::bad_utf8:
            corrupt_middle(reply.body, '\xFF');
            break;
        case Crooked::empty_body:
            reply.body.clear();
            break;
        case Crooked::redirect:
            reply = html_reply(307);
            reply.headers.emplace_back("Location", "http://127.0.0.1:9/elsewhere");
            break;
        case Crooked::odd_status:
            reply.status = 500;
            break;
        case Crooked::gzip:
            reply.headers.emplace_back("Content-Encoding", "gzip");
            reply.body = gzip(reply.body);
            break;
        case Crooked::length_short:
            return with_lengths(reply, {size - std::min<std::size_t>(size, 5)},
                                Wire::Then::keep_open);
        case Crooked::length_long:
            return with_lengths(reply, {size + 5}, Wire::Then::close);
        case Crooked::two_lengths:
            return with_lengths(reply, {size, size + 1}, Wire::Then::keep_open);
        case Crooked::broken_chunk:
            return {head_of(reply) + "Transfer-Encoding: chunked" + std::string(kEndOfHead) +
                        "xyz\r\n" + reply.body + "\r\n0\r\n\r\n",
                    Wire::Then::keep_open, ""};
        case Crooked::cut_midway:
            return {first_half(framed(reply, framing)), Wire::Then::close, ""};
        case Crooked::stall:
            return {first_half(framed(reply, framing)), Wire::Then::stall, ""};
        case Crooked::endless:
            return endless(reply);
        default:
            break;
    }
    return {framed(reply, framing), Wire::Then::keep_open, ""};
}

std::string crooked_body(std::string_view id, std::string_view member, Crooked crooked) {
    std::string shown_id(id);
    if (crooked == Crooked::wrong_id) {
        shown_id = "987654321";
    } else if (crooked == Crooked::string_id) {
        shown_id = "\"" + shown_id + "\"";
    }
    std::string out = R"({"jsonrpc":"2.0")";
    if (crooked != Crooked::no_id) {
        out += R"(,"id":)" + shown_id;
    }
    if (crooked == Crooked::result_and_error) {
        out += R"(,"result":"0x0","error":{"code":-32000,"message":"both"})";
    } else if (crooked != Crooked::neither) {
        out += ",";
        out += member;
    }
    return out + "}";
}

}  // namespace weir::simulator
