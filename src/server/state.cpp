#include "server/state.hpp"

#include <utility>

namespace weir::server {
namespace {

Limits limits_of(const config::Server& settings) {
    return {
        .max_header = settings.max_header,
        .max_body = settings.max_body,
        .max_connections = settings.max_connections,
        .max_in_flight = settings.max_in_flight,
        .header_timeout = settings.header_timeout,
        .body_timeout = settings.body_timeout,
        .idle_timeout = settings.idle_timeout,
    };
}

std::shared_ptr<const Settings> make(const config::Server& settings, const Limits& limits,
                                     std::shared_ptr<const ListenerTls> tls) {
    return std::make_shared<Settings>(
        Settings{limits, AccessRules(settings.allowed_hosts, settings.cors_origins),
                 TrustedProxies(settings.trusted_proxies), std::move(tls)});
}

}  // namespace

std::shared_ptr<const Settings> settings_of(const config::Server& settings,
                                            std::shared_ptr<const ListenerTls> tls) {
    return make(settings, limits_of(settings), std::move(tls));
}

std::shared_ptr<const Settings> admin_settings(const config::Server& settings) {
    Limits limits = limits_of(settings);
    limits.max_body = 64 * config::kKiB;
    limits.max_connections = 128;
    limits.max_in_flight = 128;
    return make(settings, limits, nullptr);
}

}  // namespace weir::server
