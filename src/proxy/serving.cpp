#include "proxy/serving.hpp"

#include "config/encoding.hpp"

#include <utility>

namespace weir::proxy {

Routes::Routes(const std::vector<config::Chain>& chains) {
    for (std::size_t i = 0; i < chains.size(); ++i) {
        by_path_.emplace('/' + chains[i].name, i);
        by_path_.emplace('/' + std::to_string(chains[i].chain_id), i);
        if (chains[i].is_default || chains.size() == 1) {
            by_path_.emplace("/", i);
        }
    }
}

std::optional<std::size_t> Routes::chain_of(std::string_view path) const {
    const auto found = by_path_.find(std::string(path));
    return found != by_path_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<Routes::Target> Routes::find(std::string_view path) const {
    if (const auto chain = chain_of(path)) {
        return Target{.chain = *chain};
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos || path.size() - slash - 1 < config::kMinTokenLength) {
        return std::nullopt;
    }
    const std::string_view before = slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
    const auto chain = slash == 1 ? std::nullopt : chain_of(before);
    return chain ? std::optional(Target{*chain, path.substr(slash + 1)}) : std::nullopt;
}

Serving::Serving(const config::Config& config, std::vector<std::shared_ptr<ChainContext>> served,
                 std::vector<Client> users)
    : limits{.max_depth = config.server.max_depth, .max_batch = config.server.max_batch},
      routes(config.chains),
      is_open(config.clients.empty()),
      tokens(config.clients),
      chains(std::move(served)),
      clients(std::move(users)) {}

core::Result<Serving::Found, RouteError> Serving::find(const RouteRequest& request) const {
    const std::optional<Routes::Target> target = routes.find(request.path);
    if (!target || (is_open && !target->token.empty())) {
        return RouteError::no_chain;
    }
    if (is_open) {
        return Found{target->chain, &clients.front()};
    }
    std::optional<std::size_t> client;
    if (const auto token = routing::bearer_token(request.authorization)) {
        client = tokens.find(*token);
    } else if (const auto decoded = config::percent_decode(target->token)) {
        client = tokens.find(*decoded);
    }
    if (!client) {
        return RouteError::unauthorized;
    }
    return Found{target->chain, &clients[*client]};
}

}  // namespace weir::proxy
