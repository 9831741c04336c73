// Where the HTTP server and the request's life meet: a request that was read, a sink for its
// answer.
#pragma once

#include "core/result.hpp"
#include "core/time.hpp"
#include "proxy/gateway_error.hpp"
#include "runtime/task.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::proxy {

struct Client;
struct ServingView;

// What a request says about where it goes and who sends it.
struct RouteRequest {
    std::string_view path;  // of the target, without its query
    std::string_view authorization = {};
};
enum class RouteError : std::uint8_t { no_chain, unauthorized };

// What the path and the token name. Found before the body is read, and kept as it was until the
// answer is out, whatever is reloaded meanwhile.
struct Route {
    std::shared_ptr<ServingView> serving;
    std::size_t chain = 0;  // its place there
    const Client* client = nullptr;
};

// A request that was refused before it was handled.
struct Refused {
    const GatewayError& error;
    std::string_view request_id;
    std::string_view peer;
    const Route& route;  // as far as it is known; without `serving` not even the chain is
};

struct PinWish;

struct ClientRequest {
    Route route;
    std::string_view body;
    std::string_view request_id;   // the client's own or the server's
    std::string_view peer;         // for the log
    core::TimePoint received;      // when its head was complete
    const PinWish* pin = nullptr;  // all its reads are to show one block
    // Requests that the server would still take in.
    std::size_t room = std::numeric_limits<std::size_t>::max();
};

struct ResponseHead {
    int status = 200;
    unsigned attempts = 0;             // Weir-Attempts
    unsigned retry_after_seconds = 0;  // 0: no Retry-After
    std::string block = {};            // Weir-Block; empty: none
};

// Is the client of a request still there? Tells those who listen when it is not. One worker.
class ClientPresence {
  public:
    class Listener {
      public:
        // Once, from the event loop.
        virtual void on_client_gone() = 0;

      protected:
        ~Listener() = default;
    };

    bool gone() const { return gone_; }
    void add(Listener& listener) { listeners_.push_back(&listener); }
    void remove(Listener& listener) { std::erase(listeners_, &listener); }

    // For the server. A listener may remove itself or others meanwhile.
    void leave() {
        gone_ = true;
        while (!listeners_.empty()) {
            Listener* const next = listeners_.back();
            listeners_.pop_back();
            next->on_client_gone();
        }
    }
    void begin() { gone_ = false; }

  private:
    std::vector<Listener*> listeners_;
    bool gone_ = false;
};

// Takes one answer for one request; send() once, or begin(), write()..., end(). The server adds
// everything that every answer has (Date, Weir-Request-Id, CORS, Connection). False: the client is
// gone, nothing more can be sent.
class ResponseSink {
  public:
    virtual ~ResponseSink() = default;

    // A whole answer; the pieces go out one after another. An empty body goes with status 204.
    // Most clients take it at once; where one does not, send_rest() has to follow at once.
    enum class Sent : std::uint8_t { all, blocked, failed };
    virtual Sent send_now(const ResponseHead& head, std::span<const std::string_view> body) = 0;
    virtual runtime::Task<bool> send_rest() = 0;
    // Both in one.
    runtime::Task<bool> send(const ResponseHead& head, std::span<const std::string_view> body);

    // An answer that is passed on as it arrives.
    virtual runtime::Task<bool> begin(const ResponseHead& head) = 0;
    virtual runtime::Task<bool> write(std::span<const std::string_view> pieces) = 0;
    virtual runtime::Task<bool> end() = 0;

    // The answer cannot be completed: the client's connection is cut mid-message.
    virtual void abort() = 0;

    // When the end of the answer was handed to the socket, or nothing more could be.
    virtual core::TimePoint finished_at() const = 0;

    ClientPresence& client() { return client_; }

  private:
    ClientPresence client_;
};

inline runtime::Task<bool> ResponseSink::send(const ResponseHead& head,
                                              std::span<const std::string_view> body) {
    const Sent sent = send_now(head, body);
    if (sent != Sent::blocked) {
        co_return sent == Sent::all;
    }
    const bool whole = co_await send_rest();
    co_return whole;
}

// The request's life behind the HTTP server. One per worker.
class RequestHandler {
  public:
    virtual ~RequestHandler() = default;

    virtual core::Result<Route, RouteError> route(const RouteRequest& request) = 0;

    // The chain that a path names, whoever asks; no client. Empty where it names none.
    virtual Route chain_of(std::string_view path) = 0;

    // Returns after the answer was sent (or given up). What the request's views point to must live
    // until then.
    virtual runtime::Task<> handle(const ClientRequest& request, ResponseSink& sink) = 0;

    // A request that the server refused by itself, for the log line and the metrics.
    virtual void refused(const Refused& request) = 0;
};

}  // namespace weir::proxy
