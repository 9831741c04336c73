// A server on loopback port 0 with a handler that echoes, run by a thread of its own.
#pragma once

#include "config/config.hpp"
#include "proxy/exchange.hpp"
#include "runtime/event.hpp"
#include "server/server.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::test {

// Serves `/` and `/ethereum`. Answers with the request's body, unless that is one of
//   whole N      N bytes in one answer         stream N   N bytes, passed on in pieces
//   abort        a piece, then abort()         silence    returns without an answer
//   204          an answer without a body      wait       answers once release() was called
//   limited      429 with Retry-After: 2
class EchoHandler final : public proxy::RequestHandler {
  public:
    explicit EchoHandler(boost::asio::io_context& io) : released_(io) {}

    core::Result<proxy::Route, proxy::RouteError> route(
        const proxy::RouteRequest& request) override;
    runtime::Task<> handle(const proxy::ClientRequest& request, proxy::ResponseSink& sink) override;
    proxy::Route chain_of(std::string_view) override { return {}; }
    void refused(const proxy::Refused& request) override;

    // On the worker's thread.
    void release() { released_.set(); }

    // Any thread.
    std::vector<std::string> bodies() const;
    std::size_t refusals() const;
    std::size_t running() const { return running_; }
    std::size_t broken() const { return broken_; }  // answers that the client did not take

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> bodies_;
    std::size_t refusals_ = 0;
    std::atomic<std::size_t> running_ = 0;
    std::atomic<std::size_t> broken_ = 0;
    runtime::Event released_;
};

class HttpServer {
  public:
    explicit HttpServer(const config::Server& settings = {});
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    std::uint16_t port() const;
    EchoHandler& handler();
    server::ServerState& state();
    runtime::MemoryBudget& budget();

    // Runs on the worker's thread; returns when it ran.
    void on_worker(const std::function<void(server::Server&)>& action);

    // As Server::drained(); waits for the answer.
    bool drained(core::Duration within);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
    std::thread thread_;
};

}  // namespace weir::test
