// What every operation of one worker works with.
#pragma once

#include "proxy/observations.hpp"
#include "runtime/worker.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/redact.hpp"
#include "upstream/recent_traffic.hpp"
#include "upstream/transport.hpp"

#include <cstdint>
#include <string>

namespace weir::proxy {

// One per worker. `next_id` numbers the calls that go upstream; the client's ids never do.
struct Services {
    runtime::Worker& worker;
    upstream::Transport& transport;
    telemetry::Log& log;
    telemetry::Metrics& metrics;
    const telemetry::PieceRedactor& secrets;
    Observations& observations;
    upstream::RecentTraffic&
        unrouted;  // of requests of which nobody knows for which chain they were
    std::uint64_t next_id = 1;
    std::string correlation_key = {};  // of the log; empty: reads are not told apart
};

}  // namespace weir::proxy
