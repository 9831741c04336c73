// Parts of a gateway in a test: the labels of the metrics as the daemon has them, a chain.
#pragma once

#include "config/config.hpp"
#include "proxy/account.hpp"
#include "proxy/chain_context.hpp"
#include "routing/methods.hpp"
#include "routing/verdict.hpp"
#include "telemetry/metrics.hpp"

#include <memory>
#include <utility>

namespace weir::test {

inline telemetry::MetricsLayout metrics_layout() {
    telemetry::MetricsLayout layout;
    for (std::size_t i = 0; i < routing::method_count(); ++i) {
        layout.methods.emplace_back(i == 0 ? "other" : routing::method_at(i).name);
    }
    for (std::size_t i = 0; i < routing::kCauses; ++i) {
        layout.causes.emplace_back(routing::to_string(static_cast<routing::Cause>(i)));
    }
    layout.outcomes = proxy::outcome_names();
    return layout;
}

inline telemetry::ChainNames names_of(const config::Chain& chain) {
    telemetry::ChainNames names{chain.name, {}};
    for (const config::Upstream& upstream : chain.upstreams) {
        names.upstreams.push_back(upstream.name);
    }
    return names;
}

// The one chain of a test.
inline std::shared_ptr<proxy::ChainContext> context_of(
    std::shared_ptr<upstream::Pool> pool, std::shared_ptr<const routing::ProviderBook> providers,
    telemetry::ChainMeter meter) {
    proxy::ChainIdentity identity;
    for (std::size_t i = 0; i < pool->chain().upstreams.size(); ++i) {
        identity.upstreams.push_back(100 + i);  // no places
    }
    return std::make_shared<proxy::ChainContext>(
        proxy::ChainContext::Parts{.index = 0,
                                   .identity = std::move(identity),
                                   .pool = std::move(pool),
                                   .providers = std::move(providers),
                                   .meter = std::move(meter)});
}

}  // namespace weir::test
