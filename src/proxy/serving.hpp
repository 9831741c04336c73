// What is served: the chains, the clients, and how a request's path and token name them.
#pragma once

#include "config/config.hpp"
#include "jsonrpc/request.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/client.hpp"
#include "proxy/exchange.hpp"
#include "routing/client_book.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::proxy {

// The chains that paths name: `/ethereum`, `/1`, and `/` for the default one.
class Routes {
  public:
    explicit Routes(const std::vector<config::Chain>& chains);

    struct Target {
        std::size_t chain = 0;
        std::string_view token = {};  // the path's last segment, as it was sent
    };
    // A path that names a chain, alone or with one more segment; a segment too short to be a token
    // is none.
    std::optional<Target> find(std::string_view path) const;

  private:
    std::optional<std::size_t> chain_of(std::string_view path) const;
    std::unordered_map<std::string, std::size_t> by_path_;
};

// Immutable but for what its parts guard themselves; any thread.
struct Serving {
    // `clients` are the configuration's, in its order, or the one of an open gateway.
    Serving(const config::Config& config, std::vector<std::shared_ptr<ChainContext>> served,
            std::vector<Client> users);

    struct Found {
        std::size_t chain = 0;
        const Client* client = nullptr;
    };
    core::Result<Found, RouteError> find(const RouteRequest& request) const;

    const jsonrpc::RequestLimits limits;
    const Routes routes;
    const bool is_open;  // to everybody
    const routing::ClientBook tokens;
    const std::vector<std::shared_ptr<ChainContext>> chains;
    const std::vector<Client> clients;
};

}  // namespace weir::proxy
