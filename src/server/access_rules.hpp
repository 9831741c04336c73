// Which Host names and browser origins a listener serves: the guard against DNS rebinding and
// against web pages that reach for a local node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server {

// `host[:port]` as it stands in a Host header or an absolute target; v6 literals keep no brackets.
struct Authority {
    std::string_view host;
    std::optional<std::uint16_t> port;
};

// Nothing for anything but letters, digits, `.`, `-`, `_` or a bracketed IPv6 literal, with an
// optional port of digits.
std::optional<Authority> parse_authority(std::string_view text);

// Who can open a connection to a listener.
enum class Reach : std::uint8_t { loopback, network };

struct OriginVerdict {
    enum class Kind : std::uint8_t {
        plain,    // no Origin, or one that is not a web page's: served without CORS headers
        allowed,  // gets the CORS headers
        forbidden,
    };
    Kind kind = Kind::plain;
    std::string_view allow_origin = {};  // for Access-Control-Allow-Origin; the Origin or `*`
};

// Immutable; any thread.
class AccessRules {
  public:
    AccessRules(const std::vector<std::string>& allowed_hosts,
                std::vector<std::string> cors_origins);

    // Loopback listeners serve localhost, IP literals and the allowed names. Other listeners serve
    // the allowed names, or any name where none is set.
    bool serves_host(std::string_view authority, Reach reach) const;

    // A request without Host (HTTP/1.0, so never a browser's) names nothing: it is served where no
    // name is required.
    bool serves_hostless() const { return allowed_hosts_.empty(); }

    // An absolute target must name this server: as serves_host(), and where that would serve any
    // name, the one in the Host header.
    bool serves_target(std::string_view authority, std::string_view host_header, Reach reach) const;

    // `origin` is an Origin header's value.
    OriginVerdict judge_origin(std::string_view origin, Reach reach) const;

  private:
    bool names_host(std::string_view host) const;

    std::vector<std::string> allowed_hosts_;  // lower case, no trailing dot
    std::vector<std::string> cors_origins_;
    bool any_origin_ = false;
};

}  // namespace weir::server
