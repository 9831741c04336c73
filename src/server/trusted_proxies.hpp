// Whose X-Forwarded-For is believed, and what follows from it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server {

// Immutable; any thread.
class TrustedProxies {
  public:
    // Networks in CIDR notation, as the configuration has judged them.
    explicit TrustedProxies(const std::vector<std::string>& networks);

    bool empty() const { return networks_.empty(); }

    // The address from which a request came: `peer`, or where that is a trusted proxy the last
    // address in the X-Forwarded-For fields (in their order) that is not one. What proxies that are
    // not trusted have written before it counts for nothing; what is no address ends the search. A
    // port behind an address is left out.
    std::string_view origin_of(std::string_view peer,
                               std::span<const std::string_view> forwarded_for) const;

  private:
    using Address = std::array<std::uint8_t, 16>;  // IPv4 as ::ffff:a.b.c.d
    struct Network {
        Address address;
        unsigned bits;
    };
    static bool parse(std::string_view text, Address& address);
    bool trusts(const Address& address) const;

    std::vector<Network> networks_;
};

}  // namespace weir::server
