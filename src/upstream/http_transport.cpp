#include "upstream/http_transport.hpp"

#include "upstream/exchange.hpp"
#include "upstream/http_connection.hpp"
#include "upstream/idle_connections.hpp"
#include "upstream/request_head.hpp"
#include "upstream/tls.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace weir::upstream {
namespace {

using routing::Cause;
using routing::TransportFailure;
using Chunk = ReplyRest::Chunk;

constexpr std::size_t kStreamed = 64 * 1024;  // of a long reply, in one piece

// An upstream closes an idle connection some time after its last reply; ours must be gone before.
core::Duration with_margin(core::Duration idle_limit) {
    return idle_limit - std::max<core::Duration>(core::seconds(1), idle_limit / 10);
}

// Why the attempt is not even begun.
Failed cannot_begin(const Attempt& attempt) {
    using Origin = TransportFailure::Origin;
    if (attempt.cancellation != nullptr && attempt.cancellation->cancelled()) {
        return TransportFailure{Cause::connection_lost, TransportFailure::Sent::nothing,
                                "the attempt was cancelled", Origin::gateway};
    }
    if (attempt.now >= attempt.deadline) {
        return TransportFailure{Cause::timeout, TransportFailure::Sent::nothing,
                                "no time was left for the attempt", Origin::gateway};
    }
    return std::nullopt;
}

// Ties an attempt's cancellation to its connection for a while.
class Hook {
  public:
    Hook(Cancellation* cancellation, HttpConnection& connection) : cancellation_(cancellation) {
        if (cancellation_ != nullptr) {
            cancellation_->hook(&connection);
        }
    }
    ~Hook() {
        if (cancellation_ != nullptr) {
            cancellation_->hook(nullptr);
        }
    }
    Hook(const Hook&) = delete;
    Hook& operator=(const Hook&) = delete;

  private:
    Cancellation* cancellation_;
};

}  // namespace

// One destination and the connections to it.
struct HttpTransport::Peer {
    Peer(std::shared_ptr<const Destination> where, std::size_t most_idle)
        : destination(std::move(where)), idle(most_idle) {}

    const std::shared_ptr<const Destination> destination;
    TlsTicket ticket;
    IdleConnections idle;
};

class HttpTransport::Rest final : public ReplyRest {
  public:
    Rest(HttpTransport& transport, std::shared_ptr<Peer> peer,
         std::unique_ptr<HttpConnection> connection, ReplyBody body, core::Duration idle)
        : transport_(transport),
          peer_(std::move(peer)),
          connection_(std::move(connection)),
          body_(std::move(body)),
          idle_(idle) {}

    runtime::Task<core::Result<Chunk, TransportFailure>> read(runtime::Buffer& into) override;
    void set_deadline(core::TimePoint deadline) override {
        if (connection_) {
            connection_->arm(deadline);
        }
    }

  private:
    Chunk end();

    HttpTransport& transport_;
    const std::shared_ptr<Peer> peer_;
    std::unique_ptr<HttpConnection> connection_;  // null: the body has ended, or failed
    ReplyBody body_;
    core::Duration idle_;  // for the connection, after the end; zero: not to be used again
    bool ended_ = false;
};

runtime::Task<core::Result<Chunk, TransportFailure>> HttpTransport::Rest::read(
    runtime::Buffer& into) {
    // Nothing is lost by asking again: others give memory back, or the deadline ends it.
    constexpr core::Duration kRoomPause = core::milliseconds(10);
    into.clear();
    while (!ended_) {
        const ReplyBody::Step step = body_.take(into, kStreamed);
        if (step == ReplyBody::Step::end) {
            ended_ = true;
            break;
        }
        bool lacks_room = step == ReplyBody::Step::no_memory;
        Failed failed = failure_of(step, body_, *connection_);
        if (!failed && (step == ReplyBody::Step::full || !into.empty())) {
            co_return Chunk::more;
        }
        if (!failed) {
            const HttpConnection::Read read = try_receive(*connection_, body_, into);
            if (read == HttpConnection::Read::none) {
                const auto [error] = co_await connection_->wait_readable();
                connection_->woken(error);
                continue;
            }
            lacks_room = read == HttpConnection::Read::no_memory;
            failed = failure_of(read, *connection_, body_, ended_);
        }
        if (lacks_room && !into.empty()) {
            co_return Chunk::more;
        }
        if (lacks_room && connection_->stopped() == HttpConnection::Stop::none) {
            const core::TimePoint later = transport_.worker_.clock.now() + kRoomPause;
            co_await runtime::sleep_until(transport_.worker_.io, later);
            continue;
        }
        if (failed) {
            connection_->close();
            co_return std::move(*failed);
        }
    }
    co_return into.empty() ? end() : Chunk::more;
}

Chunk HttpTransport::Rest::end() {
    if (connection_) {
        transport_.release(*peer_, std::move(connection_),
                           body_.has_surplus() ? core::Duration{} : idle_,
                           transport_.worker_.clock.now());
    }
    return Chunk::end;
}

HttpTransport::HttpTransport(runtime::Worker& worker, const DestinationTable& table,
                             TransportSettings settings)
    : worker_(worker),
      settings_(std::move(settings)),
      resolver_(worker, settings_.lookup, settings_.addresses),
      table_(table.map()) {}

HttpTransport::~HttpTransport() = default;

core::Result<std::unique_ptr<HttpTransport>> HttpTransport::create(
    runtime::Worker& worker, const std::vector<config::Chain>& chains, TransportSettings settings) {
    core::Result<std::vector<Destinations>> destinations = make_destinations(chains);
    if (!destinations) {
        return destinations.error();
    }
    auto table = std::make_unique<DestinationTable>();
    for (std::size_t chain = 0; chain < destinations->size(); ++chain) {
        table->put(chain, std::move((*destinations)[chain]));
    }
    auto made = std::make_unique<HttpTransport>(worker, *table, std::move(settings));
    made->own_table_ = std::move(table);
    return made;
}

// As the table says now. Peers that it does not name any more go when their last attempt ends.
const HttpTransport::Peers& HttpTransport::peers() {
    const std::shared_ptr<const DestinationTable::Map>& now = table_.get();
    if (now == seen_) {
        return peers_;
    }
    std::map<const Destination*, std::shared_ptr<Peer>> known;
    for (const auto& [chain, peers] : peers_) {
        for (const std::shared_ptr<Peer>& peer : peers) {
            known.emplace(peer->destination.get(), peer);
        }
    }
    Peers next;
    for (const auto& [chain, destinations] : *now) {
        std::vector<std::shared_ptr<Peer>>& peers = next[chain];
        for (const std::shared_ptr<const Destination>& destination : destinations) {
            std::shared_ptr<Peer>& peer = known[destination.get()];
            if (!peer) {
                peer = std::make_shared<Peer>(destination, settings_.most_idle);
            }
            peers.push_back(peer);
        }
    }
    peers_ = std::move(next);
    seen_ = now;
    return peers_;
}

// Opens a connection to one of the upstream's addresses, each in its share of the time.
runtime::Task<Failed> HttpTransport::dial(Peer& peer, HttpConnection& connection,
                                          core::TimePoint deadline) {
    const Destination& to = *peer.destination;
    const core::TimePoint limit = std::min(deadline, worker_.clock.now() + to.connect);
    connection.arm(limit);
    core::Result<Addresses> addresses =
        co_await resolver_.resolve(to.url.host, connection.interrupt());
    std::string problem = addresses ? std::string() : addresses.error().message;
    std::size_t left = addresses ? addresses->size() : 0;
    for (; left != 0; --left) {
        const core::TimePoint now = worker_.clock.now();
        if (connection.stopped() == HttpConnection::Stop::cancelled || now >= limit) {
            break;
        }
        connection.restart();
        connection.arm(now + (limit - now) / static_cast<long>(left));
        const std::string& address = (*addresses)[addresses->size() - left];
        bool open = co_await connection.connect(address, to.url.port, settings_.descriptors_below);
        if (open && to.trust) {
            std::unique_ptr<TlsSession> session =
                make_session(*to.trust, to.url.host, to.tls, peer.ticket);
            open = co_await connection.handshake(std::move(session));
        }
        if (open && connection.stopped() == HttpConnection::Stop::none) {
            connection.arm(deadline);
            co_return std::nullopt;
        }
        problem = connection.problem();
    }
    if (connection.stopped() == HttpConnection::Stop::cancelled) {
        co_return stopped_failure(connection);
    }
    if (addresses) {
        resolver_.distrust(to.url.host);
    }
    const core::TimePoint now = worker_.clock.now();
    if (connection.stopped() == HttpConnection::Stop::deadline || now >= limit) {
        problem = "no connection in time";
    }
    TransportFailure failed{now >= deadline ? Cause::timeout : Cause::connect_failed,
                            TransportFailure::Sent::nothing, problem};
    if (connection.lacks_resources()) {
        failed.origin = TransportFailure::Origin::no_room;
    }
    co_return failed;
}

runtime::Task<TransportResult> HttpTransport::send(const Attempt& attempt) {
    Failed failed = cannot_begin(attempt);
    if (failed) {
        co_return std::move(*failed);
    }
    const std::shared_ptr<Peer> peer = peers().at(attempt.chain).at(attempt.upstream);
    std::unique_ptr<HttpConnection> connection;
    if (attempt.connection == Connection::pooled) {
        connection = peer->idle.take(attempt.now);
    }
    const bool reused = connection != nullptr;
    if (!reused) {
        connection = std::make_unique<HttpConnection>(worker_);
    }
    const Hook hook(attempt.cancellation, *connection);
    if (reused) {
        connection->arm(attempt.deadline);
    } else {
        failed = co_await dial(*peer, *connection, attempt.deadline);
        if (failed && failed->origin == TransportFailure::Origin::no_room) {
            // What others may use again later is in the way of what is to be sent now.
            close_idle();
            connection->restart();
            failed = co_await dial(*peer, *connection, attempt.deadline);
        }
        if (failed) {
            co_return std::move(*failed);
        }
    }
    // Apart from this frame: together they were too large for the allocator's quick paths.
    const auto exchange = std::make_unique<Exchange>(
        worker_, *connection, peer->destination->request_head.bytes, attempt);
    Exchange::Step step = exchange->advance();
    while (step == Exchange::Step::wait_readable || step == Exchange::Step::wait_ready) {
        if (step == Exchange::Step::wait_readable) {
            const auto [error] = co_await connection->wait_readable();
            connection->woken(error);
        } else {
            co_await connection->wait_ready();
        }
        step = exchange->advance();
    }
    if (step == Exchange::Step::done) {
        co_return finish(peer, std::move(connection), *exchange);
    }
    if (reused && exchange->peer_left_silently()) {
        // Most likely the idle connection was being closed just then, which is nobody's fault.
        exchange->why().origin = TransportFailure::Origin::gateway;
    }
    co_return std::move(exchange->why());
}

// Turns an exchange that went well into the caller's reply.
TransportResult HttpTransport::finish(const std::shared_ptr<Peer>& peer,
                                      std::unique_ptr<HttpConnection> connection,
                                      Exchange& exchange) {
    ReplyHead& head = exchange.head();
    core::Duration idle{};
    if (head.keep_alive && exchange.sent_whole()) {
        idle = head.idle_limit ? std::min(settings_.idle, with_margin(*head.idle_limit))
                               : settings_.idle;
    }
    TransportReply reply{.head = std::move(head.http),
                         .body = std::move(exchange.received()),
                         .rest = nullptr,
                         .at = worker_.clock.now()};
    if (exchange.ended()) {
        release(*peer, std::move(connection),
                exchange.body().has_surplus() ? core::Duration{} : idle, reply.at);
    } else {
        reply.rest = std::make_unique<Rest>(*this, peer, std::move(connection),
                                            std::move(exchange.body()), idle);
    }
    return reply;
}

// Keeps the connection for its next message, unless there is any doubt.
void HttpTransport::release(Peer& peer, std::unique_ptr<HttpConnection> connection,
                            core::Duration idle, core::TimePoint now) {
    if (idle > core::Duration{} && connection->is_open()) {
        peer.idle.put(std::move(connection), now + idle);
    }
}

void HttpTransport::close_idle() {
    for (const auto& [chain, of_chain] : peers()) {
        for (const std::shared_ptr<Peer>& peer : of_chain) {
            peer->idle.close_all();
        }
    }
}

void HttpTransport::drop_idle(std::size_t chain, routing::UpstreamIndex upstream) {
    peers().at(chain).at(upstream)->idle.close_all();
}

std::size_t HttpTransport::idle_count(std::size_t chain, routing::UpstreamIndex upstream) {
    return peers().at(chain).at(upstream)->idle.size();
}

}  // namespace weir::upstream
