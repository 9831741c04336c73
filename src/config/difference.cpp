#include "config/difference.hpp"

#include <algorithm>

namespace weir::config {
namespace {

bool same_endpoint(const Upstream& a, const Upstream& b) {
    return a.name == b.name && a.url == b.url && a.headers == b.headers && a.tls == b.tls;
}

// A configuration has at most one chain of an id; its name is how it is called.
bool same_chain(const Chain& a, const Chain& b) { return a.chain_id == b.chain_id; }

template <class T, class Same>
std::optional<std::size_t> place_of(const std::vector<T>& all, const T& wanted, Same same) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const T& each) { return same(each, wanted); });
    return found != all.end() ? std::optional(static_cast<std::size_t>(found - all.begin()))
                              : std::nullopt;
}

bool same_client(const Client& a, const Client& b) { return a.name == b.name; }

void compare_clients(const Config& before, const Config& after, Difference& difference) {
    for (const Client& client : after.clients) {
        const auto place = place_of(before.clients, client, same_client);
        if (!place) {
            difference.clients_added.push_back(client.name);
        } else if (before.clients[*place] != client) {
            difference.clients_changed.push_back(client.name);
        }
    }
    for (const Client& client : before.clients) {
        if (!place_of(after.clients, client, same_client)) {
            difference.clients_removed.push_back(client.name);
        }
    }
}

void compare_settings(const Config& before, const Config& after, Difference& difference) {
    const auto look = [&difference](const char* key, const auto& was, const auto& is) {
        if (was != is) {
            difference.settings.emplace_back(key);
        }
    };
    const Server& was = before.server;
    const Server& is = after.server;
    look("server.tls", was.tls, is.tls);
    look("server.allowed_hosts", was.allowed_hosts, is.allowed_hosts);
    look("server.cors_origins", was.cors_origins, is.cors_origins);
    look("server.trusted_proxies", was.trusted_proxies, is.trusted_proxies);
    look("server.max_body", was.max_body, is.max_body);
    look("server.max_batch", was.max_batch, is.max_batch);
    look("server.max_depth", was.max_depth, is.max_depth);
    look("server.max_header", was.max_header, is.max_header);
    look("server.max_connections", was.max_connections, is.max_connections);
    look("server.max_in_flight", was.max_in_flight, is.max_in_flight);
    look("server.max_buffered", was.max_buffered, is.max_buffered);
    look("server.header_timeout", was.header_timeout, is.header_timeout);
    look("server.body_timeout", was.body_timeout, is.body_timeout);
    look("server.idle_timeout", was.idle_timeout, is.idle_timeout);
    look("server.drain_delay", was.drain_delay, is.drain_delay);
    look("server.drain_timeout", was.drain_timeout, is.drain_timeout);
    look("admin.token", before.admin.token, after.admin.token);
    look("log.level", before.log.level, after.log.level);
    look("log.format", before.log.format, after.log.format);
    look("log.sample", before.log.sample, after.log.sample);
    look("log.correlation_key", before.log.correlation_key, after.log.correlation_key);
    look("providers_file", before.providers, after.providers);  // its content
}

}  // namespace

Difference compare(const Config& before, const Config& after) {
    Difference difference;
    const bool same_providers = before.providers == after.providers;
    for (const Chain& chain : after.chains) {
        ChainChange& change = difference.chains.emplace_back();
        change.before = place_of(before.chains, chain, same_chain);
        for (const Upstream& upstream : chain.upstreams) {
            change.upstreams.push_back(
                change.before
                    ? place_of(before.chains[*change.before].upstreams, upstream, same_endpoint)
                    : std::nullopt);
        }
        change.same = change.before && same_providers && before.chains[*change.before] == chain;
    }
    for (std::size_t i = 0; i < before.chains.size(); ++i) {
        if (!place_of(after.chains, before.chains[i], same_chain)) {
            difference.removed.push_back(i);
        }
    }
    compare_clients(before, after, difference);
    compare_settings(before, after, difference);
    return difference;
}

std::vector<Problem> changes_that_need_a_restart(const Config& before, const Config& after) {
    constexpr const char* kWhy = "cannot change while weir runs; restart it for that";
    std::vector<Problem> problems;
    if (before.server.listen != after.server.listen) {
        problems.push_back({"server.listen", kWhy});
    }
    if (before.server.threads != after.server.threads) {
        problems.push_back({"server.threads", kWhy});
    }
    if (before.admin.listen != after.admin.listen) {
        problems.push_back({"admin.listen", kWhy});
    }
    if (!before.clients.empty() && after.clients.empty()) {
        problems.push_back({"clients",
                            "are gone, which opens the gateway to everybody: a file that was cut "
                            "off looks like that; restart weir if it is meant"});
    }
    return problems;
}

}  // namespace weir::config
