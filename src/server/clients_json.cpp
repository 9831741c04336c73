#include "server/clients_json.hpp"

#include "server/json_writer.hpp"

#include <numeric>

namespace weir::server {
namespace {

void write_usage(JsonWriter& out, const telemetry::ClientUsage& usage,
                 const std::vector<std::string>& outcomes) {
    out.open('{');
    out.key("chain");
    out.value(usage.chain);
    out.key("calls");
    out.value(std::accumulate(usage.calls.begin(), usage.calls.end(), std::uint64_t{0}));
    out.key("units");
    out.value(usage.units);
    out.key("outcomes");
    out.open('{');
    for (std::size_t i = 0; i < usage.calls.size() && i < outcomes.size(); ++i) {
        if (usage.calls[i] != 0) {
            out.key(outcomes[i]);
            out.value(usage.calls[i]);
        }
    }
    out.close('}');
    out.close('}');
}

void write_rate(JsonWriter& out, const ClientReport& client) {
    if (client.calls_per_second == 0) {
        out.null();
        return;
    }
    out.open('{');
    out.key("calls_per_second");
    out.value(client.calls_per_second);
    out.key("burst");
    if (client.burst) {
        out.value(*client.burst);
    } else {
        out.null();
    }
    out.close('}');
}

}  // namespace

std::string clients_json(const std::vector<ClientReport>& clients,
                         const std::vector<std::string>& outcomes) {
    JsonWriter out;
    out.open('{');
    out.key("clients");
    out.open('[');
    for (const ClientReport& client : clients) {
        out.open('{');
        out.key("name");
        out.value(client.name);
        out.key("rate");
        write_rate(out, client);
        out.key("in_flight");
        out.value(client.in_flight);
        out.key("chains");
        out.open('[');
        for (const telemetry::ClientUsage* const usage : client.usage) {
            write_usage(out, *usage, outcomes);
        }
        out.close(']');
        out.close('}');
    }
    out.close(']');
    out.close('}');
    return out.take();
}

}  // namespace weir::server
