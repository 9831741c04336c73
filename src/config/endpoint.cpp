#include "config/endpoint.hpp"

#include "config/names.hpp"
#include "core/hex.hpp"
#include "core/text.hpp"

namespace weir::config {
namespace {

core::Error malformed() {
    return {"must be ADDRESS:PORT, such as 127.0.0.1:8545, [::1]:8545 or localhost:8545"};
}

bool is_wildcard(const Endpoint& endpoint) {
    return endpoint.host == "0.0.0.0" || endpoint.host == "::";
}

bool is_v6(const Endpoint& endpoint) { return endpoint.host.find(':') != std::string::npos; }

}  // namespace

bool Endpoint::is_loopback() const {
    return host == "localhost" || host == "::1" || host.starts_with("127.") ||
           host.starts_with("::ffff:127.");
}

std::string Endpoint::to_string() const {
    const bool v6 = is_v6(*this);
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

core::Result<Endpoint> parse_endpoint(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return malformed();
    }
    const auto port = core::parse_decimal(text.substr(colon + 1));
    if (!port || *port > 65535 || text.size() - colon > 6) {
        return core::Error{"must end in a port, 0 to 65535; 0 takes a free one"};
    }
    std::string_view address = text.substr(0, colon);
    const bool v6 = address.starts_with('[') && address.ends_with(']');
    if (v6) {
        address = address.substr(1, address.size() - 2);
    }
    Endpoint endpoint;
    endpoint.port = static_cast<std::uint16_t>(*port);
    if (core::iequals(address, "localhost") && !v6) {
        endpoint.host = "localhost";
        return endpoint;
    }
    auto host = is_ip_literal(address) ? parse_host(address) : std::nullopt;
    if (!host || v6 != (host->find(':') != std::string::npos)) {
        return malformed();
    }
    endpoint.host = std::move(*host);
    return endpoint;
}

bool collide(const Endpoint& a, const Endpoint& b) {
    if (a.port != b.port || a.port == 0) {
        return false;
    }
    if (a.host == b.host) {
        return true;
    }
    if (a.host == "localhost" || b.host == "localhost") {
        const Endpoint& other = a.host == "localhost" ? b : a;
        return other.host == "127.0.0.1" || other.host == "::1" || is_wildcard(other);
    }
    return is_v6(a) == is_v6(b) && (is_wildcard(a) || is_wildcard(b));
}

}  // namespace weir::config
