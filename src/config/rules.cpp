#include "config/rules.hpp"

#include "config/endpoint.hpp"
#include "config/files.hpp"
#include "core/text.hpp"

#include <map>
#include <string>
#include <utility>

namespace weir::config {
namespace {

std::string chain_path(std::size_t chain) { return "chains[" + std::to_string(chain) + "]"; }

std::string upstream_path(std::size_t chain, std::size_t upstream) {
    return chain_path(chain) + ".upstreams[" + std::to_string(upstream) + "]";
}

void judge_listeners(const Config& config, const Origin& origin, Reading& reading) {
    const auto& listen = config.server.listen;
    const auto place = [&](std::size_t i) {
        return listen.size() > 1 ? origin.listen + "[" + std::to_string(i) + "]" : origin.listen;
    };
    for (std::size_t i = 0; i < listen.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (collide(listen[i], listen[k])) {
                reading.problem(place(i), "is already taken by " + place(k));
                break;
            }
        }
    }
    for (std::size_t i = 0; i < listen.size(); ++i) {
        if (collide(listen[i], config.admin.listen)) {
            reading.problem(origin.admin, "is already taken by " + place(i));
            break;
        }
    }
}

void judge_file(const std::string& key, const std::string& file, Reading& reading) {
    const std::string trouble = file.empty() ? std::string() : trouble_with_file(file);
    if (!trouble.empty()) {
        reading.problem(key, "names a file that " + trouble);
    }
}

void judge_tls(const ListenerTls& tls, Reading& reading) {
    if (tls.certificate.empty() != tls.private_key.empty()) {
        reading.problem(
            tls.certificate.empty() ? "server.tls.certificate" : "server.tls.private_key",
            "is missing");
    }
}

void judge_origins(const Config& config, Reading& reading) {
    const auto& origins = config.server.cors_origins;
    for (std::size_t i = 0; i < origins.size(); ++i) {
        if (origins[i] == "*" && origins.size() > 1) {
            reading.problem("server.cors_origins[" + std::to_string(i) + "]", "* must stand alone");
        }
    }
}

void judge_upstreams(const Chain& chain, std::size_t place, Reading& reading) {
    if (chain.upstreams.size() > kMaxUpstreams) {
        reading.problem(chain_path(place) + ".upstreams",
                        "has more than " + std::to_string(kMaxUpstreams) + " entries");
    }
    std::map<std::string, std::size_t> names;
    for (std::size_t i = 0; i < chain.upstreams.size(); ++i) {
        const Upstream& upstream = chain.upstreams[i];
        const std::string path = upstream_path(place, i);
        // Names differ in more than case: people read them in logs and type them into URLs.
        const auto [first, fresh] = names.emplace(core::to_lower(upstream.name), i);
        if (!fresh && !upstream.name.empty()) {
            reading.problem(path + ".name",
                            "is already the name of " + upstream_path(place, first->second));
        }
        const UpstreamTls& tls = upstream.tls;
        const bool has_tls = !tls.ca_file.empty() || !tls.server_name.empty() || tls.insecure;
        if (has_tls && !upstream.url.tls && !upstream.url.host.empty()) {
            reading.problem(path + ".tls", "is set, but the URL is plain http");
        }
        if (tls.insecure && !tls.ca_file.empty()) {
            reading.problem(path + ".tls.ca_file", "has no effect while insecure is true");
        }
        if (upstream.rate.burst && upstream.rate.calls_per_second == 0) {
            reading.problem(path + ".rate.burst", "has no effect without calls_per_second");
        }
        for (const auto& [name, value] : upstream.headers) {
            if (core::iequals(name, "authorization") && !upstream.url.authorization.empty()) {
                reading.problem(path + ".headers." + name, "is set by the URL's user-info too");
            }
        }
    }
}

std::string client_path(std::size_t client) { return "clients[" + std::to_string(client) + "]"; }

// Where each token stands; one that is given twice would leave open whose it is.
void judge_tokens(const Config& config, Reading& reading) {
    std::map<std::string, std::string> places;
    for (std::size_t i = 0; i < config.clients.size(); ++i) {
        const Client& client = config.clients[i];
        const auto judge_one = [&](const Secret& token, const std::string& place) {
            if (token.reveal().size() < kMinTokenLength) {
                reading.problem(
                    place, "must be " + std::to_string(kMinTokenLength) + " characters at least");
                return;
            }
            const auto [first, fresh] = places.emplace(token.reveal(), place);
            if (!fresh) {
                reading.problem(place, "is the same as " + first->second);
            }
        };
        const bool listed = !client.tokens.empty();
        if (listed && !client.token.empty()) {
            reading.problem(client_path(i) + ".token", "is set, and so is tokens");
        } else if (!listed && client.token.empty()) {
            reading.problem(client_path(i), "needs a token");
        } else if (!listed) {
            judge_one(client.token, client_path(i) + ".token");
        }
        for (std::size_t k = 0; k < client.tokens.size(); ++k) {
            judge_one(client.tokens[k], client_path(i) + ".tokens[" + std::to_string(k) + "]");
        }
    }
}

void judge_clients(const Config& config, Reading& reading) {
    std::map<std::string, std::size_t> names;
    for (std::size_t i = 0; i < config.clients.size(); ++i) {
        const Client& client = config.clients[i];
        const std::string name = core::to_lower(client.name);
        const auto [first, fresh] = names.emplace(name, i);
        if (!fresh && !name.empty()) {
            reading.problem(client_path(i) + ".name",
                            "is already the name of " + client_path(first->second));
        }
        if (name == kAnonymous) {
            reading.problem(client_path(i) + ".name", "stands for whoever uses an open gateway");
        }
        if (client.rate.burst && client.rate.calls_per_second == 0) {
            reading.problem(client_path(i) + ".rate.burst",
                            "has no effect without calls_per_second");
        }
    }
    judge_tokens(config, reading);
}

void judge_rate_limits(const RateLimits& limits, std::size_t place, Reading& reading) {
    const std::string path = chain_path(place) + ".rate_limits";
    if (limits.max_retry_after < seconds(1)) {
        reading.problem(path + ".max_retry_after", "must be 1s at least");
    }
    if (limits.default_cooldown > limits.max_cooldown) {
        reading.problem(path + ".default_cooldown", "must not be longer than max_cooldown");
    }
}

void judge_chains(const Config& config, const Origin& origin, Reading& reading) {
    std::map<std::string, std::size_t> names;
    std::map<std::uint64_t, std::size_t> ids;
    std::optional<std::size_t> first_default;
    for (std::size_t i = 0; i < config.chains.size(); ++i) {
        const Chain& chain = config.chains[i];
        const bool from_flags = origin.flag_chain == i;
        const auto [id, fresh_id] = ids.emplace(chain.chain_id, i);
        if (!fresh_id && chain.chain_id != 0) {
            reading.problem(from_flags ? "--chain-id" : chain_path(i) + ".chain_id",
                            "is already the chain id of " + chain_path(id->second));
        }
        const auto [name, fresh_name] = names.emplace(chain.name, i);
        if (!fresh_name && !chain.name.empty() && (fresh_id || !from_flags)) {
            reading.problem(from_flags ? "--chain-id" : chain_path(i) + ".name",
                            "is already the name of " + chain_path(name->second));
        }
        if (chain.is_default && first_default) {
            reading.problem(chain_path(i) + ".default",
                            chain_path(*first_default) + " is the default already");
        } else if (chain.is_default) {
            first_default = i;
        }
        judge_upstreams(chain, i, reading);
        judge_rate_limits(chain.rate_limits, i, reading);
    }
}

}  // namespace

void fill_names(Config& config) {
    for (Chain& chain : config.chains) {
        if (chain.name.empty() && chain.chain_id != 0) {
            chain.name =
                chain.chain_id == 1 ? "ethereum" : "chain-" + std::to_string(chain.chain_id);
        }
        for (std::size_t i = 0; i < chain.upstreams.size(); ++i) {
            if (chain.upstreams[i].name.empty()) {
                chain.upstreams[i].name = "upstream-" + std::to_string(i + 1);
            }
        }
    }
}

void fill_providers(Config& config, Reading& reading) {
    for (std::size_t i = 0; i < config.chains.size(); ++i) {
        for (std::size_t k = 0; k < config.chains[i].upstreams.size(); ++k) {
            Upstream& upstream = config.chains[i].upstreams[k];
            if (upstream.provider.empty()) {
                upstream.provider = config.providers.name_of_host(upstream.url.host);
            } else if (config.providers.find(upstream.provider) == nullptr) {
                reading.problem(upstream_path(i, k) + ".provider",
                                "names no profile of the provider file");
            }
        }
    }
}

void gather_tokens(Config& config) {
    for (Client& client : config.clients) {
        if (!client.token.empty()) {
            client.tokens.push_back(std::move(client.token));
            client.token = Secret();
        }
    }
}

void judge(const Config& config, const Origin& origin, Reading& reading) {
    judge_listeners(config, origin, reading);
    judge_tls(config.server.tls, reading);
    judge_origins(config, reading);
    judge_clients(config, reading);
    judge_chains(config, origin, reading);
}

void judge_files(const Config& config, Reading& reading) {
    const ListenerTls& own = config.server.tls;
    for (const auto& [key, file] : {std::pair("server.tls.certificate", own.certificate),
                                    std::pair("server.tls.private_key", own.private_key)}) {
        judge_file(key, file, reading);
    }
    for (std::size_t i = 0; i < config.chains.size(); ++i) {
        const Chain& chain = config.chains[i];
        for (std::size_t k = 0; k < chain.upstreams.size(); ++k) {
            judge_file(upstream_path(i, k) + ".tls.ca_file", chain.upstreams[k].tls.ca_file,
                       reading);
        }
    }
}

}  // namespace weir::config
