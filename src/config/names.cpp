#include "config/names.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstdint>

namespace weir::config {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_letter(c) || is_digit(c); }

// All of `text` is letters, digits or one of `others`.
bool consists_of(std::string_view text, std::string_view others) {
    return std::all_of(text.begin(), text.end(), [&](char c) {
        return is_alnum(c) || others.find(c) != std::string_view::npos;
    });
}

bool is_dns_label(std::string_view label) {
    return !label.empty() && label.size() <= 63 && consists_of(label, "-_") &&
           label.front() != '-' && label.back() != '-';
}

bool is_number(std::string_view label) {
    return std::all_of(label.begin(), label.end(), is_digit) || label.starts_with("0x");
}

// A name whose last label is a number is an IPv4 address in some old notation (WHATWG URL), which
// different readers take differently.
bool is_dns_name(std::string_view name) {
    if (name.empty() || name.size() > 253) {
        return false;
    }
    std::string_view label;
    for (std::string_view rest = name;;) {
        const std::size_t dot = rest.find('.');
        label = rest.substr(0, dot);
        if (!is_dns_label(label)) {
            return false;
        }
        if (dot == std::string_view::npos) {
            break;
        }
        rest.remove_prefix(dot + 1);
    }
    return !is_number(label);
}

// The canonical text of an IP literal of `family`; nothing for anything else.
std::optional<std::string> parse_ip(int family, std::string_view text) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    std::array<char, INET6_ADDRSTRLEN> canonical{};
    if (text.size() >= canonical.size() || text.find('\0') != std::string_view::npos ||
        inet_pton(family, std::string(text).c_str(), address.data()) != 1 ||
        !inet_ntop(family, address.data(), canonical.data(), canonical.size())) {
        return std::nullopt;
    }
    return std::string(canonical.data());
}

constexpr std::array<std::string_view, 15> kReservedHeaders = {
    "host",       "content-length",      "content-type", "content-encoding",   "transfer-encoding",
    "connection", "keep-alive",          "te",           "proxy-connection",   "trailer",
    "upgrade",    "proxy-authorization", "expect",       "proxy-authenticate", "accept-encoding"};

}  // namespace

bool is_chain_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && is_lower(name[0]) &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return is_lower(c) || is_digit(c) || c == '-'; });
}

bool is_upstream_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && is_alnum(name[0]) && consists_of(name, "._-");
}

bool is_method_pattern(std::string_view pattern) {
    return !pattern.empty() && pattern.size() <= 128 && consists_of(pattern, "_.-*");
}

bool is_header_name(std::string_view name) {
    return !name.empty() && name.size() <= 128 && consists_of(name, "!#$%&'*+-.^_`|~");
}

bool is_reserved_header(std::string_view name) {
    return std::find(kReservedHeaders.begin(), kReservedHeaders.end(), core::to_lower(name)) !=
           kReservedHeaders.end();
}

bool is_header_value(std::string_view value) {
    return !value.empty() && value.front() != ' ' && value.back() != ' ' &&
           std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_token(std::string_view token) {
    return !token.empty() &&
           std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool is_ip_literal(std::string_view host) {
    return parse_ip(AF_INET, host).has_value() || parse_ip(AF_INET6, host).has_value();
}

std::optional<std::string> parse_network(std::string_view text) {
    const std::size_t slash = text.find('/');
    for (const auto& [family, bytes] : {std::pair(AF_INET, 4U), std::pair(AF_INET6, 16U)}) {
        const auto address = parse_ip(family, text.substr(0, slash));
        if (!address) {
            continue;
        }
        const auto prefix = slash == std::string_view::npos
                                ? std::optional<std::uint64_t>(bytes * 8)
                                : core::parse_decimal(text.substr(slash + 1));
        std::array<unsigned char, sizeof(in6_addr)> bits{};
        if (!prefix || *prefix > bytes * 8 ||
            inet_pton(family, address->c_str(), bits.data()) != 1) {
            return std::nullopt;
        }
        for (std::uint64_t bit = *prefix; bit < bytes * 8; ++bit) {
            if ((bits.at(bit / 8) >> (7 - bit % 8) & 1) != 0) {
                return std::nullopt;
            }
        }
        return *address + "/" + std::to_string(*prefix);
    }
    return std::nullopt;
}

std::optional<std::string> parse_host(std::string_view text) {
    if (auto v4 = parse_ip(AF_INET, text)) {
        return v4;
    }
    if (auto v6 = parse_ip(AF_INET6, text)) {
        return v6;
    }
    if (is_dns_name(text)) {
        return core::to_lower(text);
    }
    return std::nullopt;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
    const auto port = text.size() <= 5 ? core::parse_decimal(text) : std::nullopt;
    if (!port || *port == 0 || *port > 65535) {
        return std::nullopt;
    }
    return static_cast<std::uint16_t>(*port);
}

std::optional<std::string> parse_origin(std::string_view text) {
    if (text == "*") {
        return "*";
    }
    const std::size_t mark = text.find("://");
    if (mark == std::string_view::npos || mark == 0 || !is_letter(text[0]) ||
        !consists_of(text.substr(0, mark), "+-.")) {
        return std::nullopt;
    }
    const std::string scheme = core::to_lower(text.substr(0, mark));
    std::string_view authority = text.substr(mark + 3);
    std::string port;
    const std::size_t colon = authority.rfind(':');
    const std::size_t bracket = authority.rfind(']');
    if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
        const auto number = parse_port(authority.substr(colon + 1));
        if (!number) {
            return std::nullopt;
        }
        const bool usual =
            (scheme == "http" && *number == 80) || (scheme == "https" && *number == 443);
        port = usual ? "" : ":" + std::to_string(*number);
        authority = authority.substr(0, colon);
    }
    const bool v6 = authority.starts_with('[') && authority.ends_with(']');
    const auto host = parse_host(v6 ? authority.substr(1, authority.size() - 2) : authority);
    if (!host || v6 != (host->find(':') != std::string::npos)) {
        return std::nullopt;
    }
    return scheme + "://" + (v6 ? "[" + *host + "]" : *host) + port;
}

}  // namespace weir::config
