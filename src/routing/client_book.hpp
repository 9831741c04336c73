// Whose token is it?
#pragma once

#include "config/config.hpp"
#include "core/keccak.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::routing {

// Immutable; any thread. It holds digests of the tokens only.
class ClientBook {
  public:
    explicit ClientBook(const std::vector<config::Client>& clients);

    // The client's place in the configuration. Digests of one length are compared to their ends,
    // all of them: the time taken tells nothing of any token.
    std::optional<std::size_t> find(std::string_view token) const;

  private:
    struct Entry {
        core::Hash256 digest;
        std::size_t client;
    };
    std::vector<Entry> entries_;
};

// What an Authorization header says after `Bearer`; nothing for another scheme.
std::optional<std::string_view> bearer_token(std::string_view authorization);

}  // namespace weir::routing
