// The document of /api/clients.
#pragma once

#include "telemetry/metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::server {

struct ClientReport {
    std::string name;
    double calls_per_second = 0;  // 0: not limited
    std::optional<std::uint64_t> burst;
    std::size_t in_flight = 0;                         // requests
    std::vector<const telemetry::ClientUsage*> usage;  // one per chain
};

// {clients: [{name, rate: {calls_per_second, burst} | null, in_flight, chains: [{chain, calls,
// units, outcomes: {<outcome>: calls}}]}]}; counted since the start, outcomes that never came left
// out.
std::string clients_json(const std::vector<ClientReport>& clients,
                         const std::vector<std::string>& outcomes);

}  // namespace weir::server
