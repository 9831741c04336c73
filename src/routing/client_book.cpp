#include "routing/client_book.hpp"

#include "core/text.hpp"

#include <cstdint>

namespace weir::routing {
namespace {

std::uint8_t difference(const core::Hash256& a, const core::Hash256& b) {
    volatile std::uint8_t bits = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        bits = static_cast<std::uint8_t>(bits | (a[i] ^ b[i]));
    }
    return bits;
}

}  // namespace

ClientBook::ClientBook(const std::vector<config::Client>& clients) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
        for (const core::Secret& token : clients[i].tokens) {
            entries_.push_back({core::keccak256(token.reveal()), i});
        }
    }
}

std::optional<std::size_t> ClientBook::find(std::string_view token) const {
    const core::Hash256 digest = core::keccak256(token);
    std::optional<std::size_t> found;
    for (const Entry& entry : entries_) {
        if (difference(entry.digest, digest) == 0) {
            found = entry.client;
        }
    }
    return found;
}

std::optional<std::string_view> bearer_token(std::string_view authorization) {
    constexpr std::string_view kScheme = "Bearer ";
    if (authorization.size() <= kScheme.size() ||
        !core::iequals(authorization.substr(0, kScheme.size()), kScheme)) {
        return std::nullopt;
    }
    return core::trim(authorization.substr(kScheme.size()));
}

}  // namespace weir::routing
