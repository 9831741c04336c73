#include "config/describe.hpp"

#include "config/kinds.hpp"
#include "config/units.hpp"

namespace weir::config {
namespace {

std::string plural(std::size_t count, const std::string& word) {
    return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::string describe_server(const Server& server) {
    std::string line = "server: listens on ";
    for (std::size_t i = 0; i < server.listen.size(); ++i) {
        line += (i == 0 ? "" : ", ") + server.listen[i].to_string();
    }
    line += server.tls.certificate.empty() ? "" : " over https";
    line += "; threads " + (server.threads == 0 ? "auto" : std::to_string(server.threads));
    line += "; " + plural(server.allowed_hosts.size(), "allowed host");
    line += "; " + plural(server.cors_origins.size(), "CORS origin");
    if (!server.trusted_proxies.empty()) {
        line += "; " + plural(server.trusted_proxies.size(), "network") + " of trusted proxies";
    }
    line += "; body up to " + size_text(server.max_body);
    line += ", batch up to " + plural(server.max_batch, "call");
    line += "; " + size_text(server.max_buffered) + " buffered at most\n";
    return line;
}

std::string describe_upstream(const Upstream& upstream) {
    std::string line = "  upstream " + upstream.name + ": " + upstream.url.label;
    line += upstream.url.tls ? " over https" : " over http";
    if (upstream.url.port != (upstream.url.tls ? 443 : 80)) {
        line += ", port " + std::to_string(upstream.url.port);
    }
    line += "; provider " + upstream.provider;
    line += "; tier " + std::to_string(upstream.tier);
    line += "; weight " + number_text(upstream.weight);
    line += "; " + std::to_string(upstream.max_in_flight) + " in flight at most";
    if (!upstream.url.authorization.empty()) {
        line += "; with user-info";
    }
    if (!upstream.headers.empty()) {
        line += "; " + plural(upstream.headers.size(), "header");
    }
    if (!upstream.tls.ca_file.empty()) {
        line += "; own CA file";
    }
    if (upstream.tls.insecure) {
        line += "; INSECURE: its certificate is not verified";
    }
    if (!upstream.methods.allow.empty() || !upstream.methods.deny.empty()) {
        line += "; " + plural(upstream.methods.allow.size(), "allow pattern") + ", " +
                plural(upstream.methods.deny.size(), "deny pattern");
    }
    return line + "\n";
}

std::string describe_client(const Client& client) {
    std::string line = "client " + client.name + ": " + plural(client.tokens.size(), "token");
    if (client.rate.calls_per_second != 0) {
        line += "; " + number_text(client.rate.calls_per_second) + " calls a second";
    }
    if (!client.methods.allow.empty() || !client.methods.deny.empty()) {
        line += "; " + plural(client.methods.allow.size(), "allow pattern") + ", " +
                plural(client.methods.deny.size(), "deny pattern");
    }
    return line + "\n";
}

std::string describe_chain(const Chain& chain, bool serves_root) {
    std::string line = "chain " + chain.name + ": id " + std::to_string(chain.chain_id);
    line += serves_root ? ", also at /" : "";
    line += "; " + plural(chain.upstreams.size(), "upstream");
    line += "; request " + to_text(chain.timeouts.request);
    line += " (slow " + to_text(chain.timeouts.slow_request) + ")";
    line += ", attempt " + to_text(chain.timeouts.attempt);
    line += ", connect " + to_text(chain.timeouts.connect);
    line += "; " + plural(chain.reads.max_attempts, "attempt") + " per read";
    line += "; " + plural(chain.deny_methods.size(), "deny pattern") + "\n";
    for (const Upstream& upstream : chain.upstreams) {
        line += describe_upstream(upstream);
    }
    return line;
}

}  // namespace

std::string describe(const Config& config) {
    std::string text = describe_server(config.server);
    text += "admin: listens on " + config.admin.listen.to_string();
    text += config.admin.token.empty() ? "; no token\n" : "; with a token\n";
    text += "log: level " + std::string(to_text(config.log.level)) + ", format " +
            std::string(to_text(config.log.format)) + "\n";
    text += config.clients.empty() ? "clients: none, so everybody may use the gateway\n" : "";
    for (const Client& client : config.clients) {
        text += describe_client(client);
    }
    for (const Chain& chain : config.chains) {
        text += describe_chain(chain, chain.is_default || config.chains.size() == 1);
    }
    return text;
}

}  // namespace weir::config
