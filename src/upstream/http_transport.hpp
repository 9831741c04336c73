// The transport to real providers: HTTP/1.1 over pooled TCP and TLS connections.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "runtime/worker.hpp"
#include "upstream/destinations.hpp"
#include "upstream/resolver.hpp"
#include "upstream/transport.hpp"

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace weir::upstream {

class Exchange;
class HttpConnection;

struct TransportSettings {
    std::size_t most_idle = 64;                   // connections kept per upstream
    core::Duration idle = core::seconds(55);      // shorter if the upstream says so
    core::Duration addresses = Resolver::kFresh;  // how long they are believed
    Lookup lookup = system_lookup;
    // Of a new connection's descriptor: those from here on are for others. The system gives out
    // the lowest that is free.
    int descriptors_below = std::numeric_limits<int>::max();
};

// One per worker. Must outlive what it returned, the rests of replies included, and be destroyed
// after its worker's tasks have ended, before the worker.
//
// Which connection carries what: a read may ride on an idle connection that shows neither an end
// nor stray bytes; if the peer closes it at that very moment, before a byte of reply, the failure
// counts against nobody, and it is the caller's to ask again. A message that must never meet a
// stale connection always gets a fresh one: any idle time leaves a moment in which the peer's close
// is already on its way.
class HttpTransport final : public Transport {
  public:
    // To where the table says, which must outlive it.
    HttpTransport(runtime::Worker& worker, const DestinationTable& table,
                  TransportSettings settings = {});
    // With a table of its own; an error is make_destinations()'s.
    static core::Result<std::unique_ptr<HttpTransport>> create(
        runtime::Worker& worker, const std::vector<config::Chain>& chains,
        TransportSettings settings = {});
    ~HttpTransport() override;

    runtime::Task<TransportResult> send(const Attempt& attempt) override;

    void close_idle();
    void drop_idle(std::size_t chain, routing::UpstreamIndex upstream);
    std::size_t idle_count(std::size_t chain, routing::UpstreamIndex upstream);

  private:
    struct Peer;
    class Rest;

    using Peers = std::map<std::size_t, std::vector<std::shared_ptr<Peer>>>;

    const Peers& peers();
    runtime::Task<std::optional<routing::TransportFailure>> dial(Peer& peer,
                                                                 HttpConnection& connection,
                                                                 core::TimePoint deadline);
    TransportResult finish(const std::shared_ptr<Peer>& peer,
                           std::unique_ptr<HttpConnection> connection, Exchange& exchange);
    void release(Peer& peer, std::unique_ptr<HttpConnection> connection, core::Duration idle,
                 core::TimePoint now);

    runtime::Worker& worker_;
    TransportSettings settings_;
    Resolver resolver_;
    std::unique_ptr<const DestinationTable> own_table_;
    core::Published<DestinationTable::Map>::Reader table_;
    std::shared_ptr<const DestinationTable::Map> seen_;
    Peers peers_;  // as the table was seen, by chain and upstream; attempts may hold others
};

}  // namespace weir::upstream
