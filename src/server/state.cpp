#include "server/state.hpp"

namespace weir::server {

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

Limits admin_limits(const config::Server& settings) {
    Limits limits = limits_of(settings);
    limits.max_body = 64 * config::kKiB;
    limits.max_connections = 128;
    limits.max_in_flight = 128;
    return limits;
}

}  // namespace weir::server
