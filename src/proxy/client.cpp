#include "proxy/client.hpp"

#include <utility>

namespace weir::proxy {

std::vector<Client> ClientStates::clients_of(const config::Config& config,
                                             telemetry::Metrics& metrics, core::TimePoint now) {
    const bool is_open = config.clients.empty();
    const std::vector<config::Client> anonymous = {
        {.name = config::kAnonymous, .tokens = {}, .token = {}, .rate = {}, .methods = {}}};
    std::map<std::string, Kept> next;
    std::vector<Client> clients;
    for (const config::Client& each : is_open ? anonymous : config.clients) {
        const auto known = kept_.find(each.name);
        Kept kept;
        if (known != kept_.end()) {
            kept = known->second;
            if (kept.rate != each.rate) {
                kept.state->set_rate(each.rate, now);
            }
        } else {
            kept.state = std::make_shared<ClientState>(is_open ? 0 : next_share_++, each.rate);
        }
        kept.rate = each.rate;
        Client& client = clients.emplace_back();
        client.name = each.name;
        client.rate = each.rate;
        client.policy = routing::MethodPolicy(each.methods);
        client.state = kept.state;
        for (const config::Chain& chain : config.chains) {
            client.meters.push_back(metrics.bind_client(each.name, chain.name));
        }
        next.emplace(each.name, std::move(kept));
    }
    kept_ = std::move(next);
    return clients;
}

}  // namespace weir::proxy
