#include "server/trusted_proxies.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>

namespace weir::server {
namespace {

constexpr unsigned kV4Prefix = 96;  // of ::ffff:0:0/96

bool is_port(std::string_view text) {
    constexpr std::uint64_t kLast = 65535;
    return core::parse_decimal(text).value_or(kLast + 1) <= kLast;
}

// The address of `a.b.c.d:port`, `[v6]` and `[v6]:port`, as some proxies write them; else all of
// it.
std::string_view without_port(std::string_view text) {
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) {
            return text;
        }
        const std::string_view rest = text.substr(end + 1);
        const bool whole = rest.empty() || (rest.starts_with(':') && is_port(rest.substr(1)));
        const std::string_view inside = text.substr(1, end - 1);
        return whole && inside.find(':') != std::string_view::npos ? inside : text;
    }
    const std::size_t colon = text.find(':');
    const bool has_port = colon != std::string_view::npos && is_port(text.substr(colon + 1));
    return has_port && text.find('.') < colon ? text.substr(0, colon) : text;
}

}  // namespace

bool TrustedProxies::parse(std::string_view text, Address& address) {
    std::array<char, INET6_ADDRSTRLEN> copy{};
    if (text.empty() || text.size() >= copy.size() || text.find('\0') != std::string_view::npos) {
        return false;
    }
    std::memcpy(copy.data(), text.data(), text.size());
    if (inet_pton(AF_INET6, copy.data(), address.data()) == 1) {
        return true;
    }
    address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return inet_pton(AF_INET, copy.data(), address.data() + kV4Prefix / 8) == 1;
}

TrustedProxies::TrustedProxies(const std::vector<std::string>& networks) {
    for (const std::string_view network : networks) {
        const std::size_t slash = network.find('/');
        const std::string_view address = network.substr(0, slash);
        const auto bits = core::parse_decimal(network.substr(slash + 1));
        Network parsed{};
        if (bits && parse(address, parsed.address)) {
            const bool v4 = address.find(':') == std::string_view::npos;
            parsed.bits = static_cast<unsigned>(*bits) + (v4 ? kV4Prefix : 0);
            networks_.push_back(parsed);
        }
    }
}

bool TrustedProxies::trusts(const Address& address) const {
    return std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) {
        for (unsigned bit = 0; bit < network.bits; ++bit) {
            const unsigned differing = address[bit / 8] ^ network.address[bit / 8];
            if ((differing >> (7 - bit % 8) & 1U) != 0) {
                return false;
            }
        }
        return true;
    });
}

std::string_view TrustedProxies::origin_of(std::string_view peer,
                                           std::span<const std::string_view> forwarded_for) const {
    Address address{};
    if (networks_.empty() || !parse(peer, address) || !trusts(address)) {
        return peer;
    }
    std::string_view origin = peer;
    for (auto field = forwarded_for.rbegin(); field != forwarded_for.rend(); ++field) {
        std::string_view rest = *field;
        while (!rest.empty()) {
            const std::size_t comma = rest.rfind(',');
            const std::string_view last = without_port(
                core::trim(comma == std::string_view::npos ? rest : rest.substr(comma + 1)));
            rest = comma == std::string_view::npos ? std::string_view() : rest.substr(0, comma);
            if (!parse(last, address)) {
                return origin;
            }
            origin = last;
            if (!trusts(address)) {
                return origin;
            }
        }
    }
    return origin;
}

}  // namespace weir::server
