// How upstreams are reached, for the transports of all workers. For this room's .cpp files, and for
// who builds the daemon.
#pragma once

#include "config/config.hpp"
#include "core/keccak.hpp"
#include "core/published.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "upstream/request_head.hpp"
#include "upstream/tls.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace weir::upstream {

// Immutable; any thread.
struct Destination {
    config::Url url;
    config::UpstreamTls tls;
    core::Duration connect;
    RequestHead request_head;
    core::Hash256 ca_digest{};                // of what the CA file held
    std::shared_ptr<const TlsContext> trust;  // null: plain HTTP
};

// Of one chain, by upstream.
using Destinations = std::vector<std::shared_ptr<const Destination>>;

// One entry for each chain. What is reached as one of `known` is that one, so that its connections
// are kept. Every problem (a CA file that cannot be read, a header that cannot be sent) is in one
// error, with the keys' paths.
core::Result<std::vector<Destinations>> make_destinations(const std::vector<config::Chain>& chains,
                                                          const Destinations& known = {});

// Which destinations an attempt's `chain` and `upstream` stand for. Any thread; attempts to a chain
// that was dropped must have ended.
class DestinationTable {
  public:
    using Map = std::map<std::size_t, Destinations>;

    DestinationTable() : map_(std::make_shared<const Map>()) {}

    void put(std::size_t chain, Destinations destinations);
    void drop(std::size_t chain);

    const core::Published<Map>& map() const { return map_; }

  private:
    core::Published<Map> map_;
};

}  // namespace weir::upstream
