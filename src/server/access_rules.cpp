#include "server/access_rules.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace weir::server {
namespace {

constexpr std::size_t kLongestHost = 255;  // of a DNS name, RFC 1035

bool is_alnum(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool parses_as(int family, std::string_view host) {
    std::array<char, INET6_ADDRSTRLEN + 1> text{};
    std::array<unsigned char, sizeof(in6_addr)> address{};
    if (host.empty() || host.size() >= text.size()) {
        return false;
    }
    std::memcpy(text.data(), host.data(), host.size());
    return inet_pton(family, text.data(), address.data()) == 1;
}

bool is_ip_literal(std::string_view host) {
    return parses_as(AF_INET, host) || parses_as(AF_INET6, host);
}

std::string_view without_root_dot(std::string_view host) {
    return host.size() > 1 && host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
}

bool is_localhost(std::string_view host) {
    return core::iequals(without_root_dot(host), "localhost") ||
           (host.starts_with("127.") && parses_as(AF_INET, host)) || host == "::1";
}

bool starts_with_scheme(std::string_view text, std::string_view scheme) {
    return text.size() >= scheme.size() && core::iequals(text.substr(0, scheme.size()), scheme);
}

std::optional<std::string_view> after_web_scheme(std::string_view origin) {
    for (const std::string_view scheme : {"http:", "https:"}) {
        if (starts_with_scheme(origin, scheme)) {
            return origin.substr(scheme.size());
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Authority> parse_authority(std::string_view text) {
    Authority authority;
    std::string_view rest;
    if (text.starts_with('[')) {
        const auto bracket = text.find(']');
        if (bracket == std::string_view::npos) {
            return std::nullopt;
        }
        authority.host = text.substr(1, bracket - 1);
        rest = text.substr(bracket + 1);
        if (!parses_as(AF_INET6, authority.host)) {
            return std::nullopt;
        }
    } else {
        const auto colon = text.find(':');
        authority.host = text.substr(0, colon);
        rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
        const bool good = std::all_of(authority.host.begin(), authority.host.end(), [](char c) {
            return is_alnum(c) || c == '.' || c == '-' || c == '_';
        });
        if (!good || authority.host.empty() || authority.host.size() > kLongestHost) {
            return std::nullopt;
        }
    }
    if (rest.empty()) {
        return authority;
    }
    const auto port = core::parse_decimal(rest.substr(1));
    if (rest.front() != ':' || rest.size() > 6 || !port ||
        *port > std::numeric_limits<std::uint16_t>::max()) {
        return std::nullopt;
    }
    authority.port = static_cast<std::uint16_t>(*port);
    return authority;
}

AccessRules::AccessRules(const std::vector<std::string>& allowed_hosts,
                         std::vector<std::string> cors_origins)
    : cors_origins_(std::move(cors_origins)),
      any_origin_(std::find(cors_origins_.begin(), cors_origins_.end(), "*") !=
                  cors_origins_.end()) {
    for (const std::string& host : allowed_hosts) {
        allowed_hosts_.push_back(core::to_lower(without_root_dot(host)));
    }
}

bool AccessRules::names_host(std::string_view host) const {
    const std::string_view name = without_root_dot(host);
    return std::any_of(allowed_hosts_.begin(), allowed_hosts_.end(),
                       [name](const std::string& allowed) { return core::iequals(allowed, name); });
}

bool AccessRules::serves_host(std::string_view authority, Reach reach) const {
    if (reach == Reach::network && allowed_hosts_.empty()) {
        return true;
    }
    const std::optional<Authority> parsed = parse_authority(authority);
    if (!parsed) {
        return false;
    }
    if (reach == Reach::loopback && (is_localhost(parsed->host) || is_ip_literal(parsed->host))) {
        return true;
    }
    return names_host(parsed->host);
}

bool AccessRules::serves_target(std::string_view authority, std::string_view host_header,
                                Reach reach) const {
    if (reach == Reach::network && allowed_hosts_.empty()) {
        return core::iequals(authority, host_header);
    }
    return serves_host(authority, reach);
}

OriginVerdict AccessRules::judge_origin(std::string_view origin, Reach reach) const {
    if (any_origin_) {
        return {OriginVerdict::Kind::allowed, "*"};
    }
    const bool listed =
        std::any_of(cors_origins_.begin(), cors_origins_.end(),
                    [origin](const std::string& one) { return core::iequals(one, origin); });
    if (listed) {
        return {OriginVerdict::Kind::allowed, origin};
    }
    const std::optional<std::string_view> rest = after_web_scheme(origin);
    if (!rest) {
        return {};
    }
    if (reach == Reach::loopback && rest->starts_with("//")) {
        const std::optional<Authority> page = parse_authority(rest->substr(2));
        if (page && is_localhost(page->host)) {
            return {OriginVerdict::Kind::allowed, origin};
        }
    }
    return {OriginVerdict::Kind::forbidden};
}

}  // namespace weir::server
