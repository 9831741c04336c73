#include "support/http_server.hpp"

#include "core/hex.hpp"
#include "server/rpc_site.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <stdexcept>

namespace weir::test {
namespace {

std::size_t number_in(std::string_view body, std::string_view word) {
    return static_cast<std::size_t>(core::parse_decimal(body.substr(word.size())).value_or(0));
}

server::Listeners open_or_throw(const std::vector<config::Endpoint>& endpoints) {
    auto listeners = server::Listeners::open(endpoints, 1);
    if (!listeners) {
        throw std::runtime_error(listeners.error().message);
    }
    return std::move(*listeners);
}

}  // namespace

core::Result<proxy::Route, proxy::RouteError> EchoHandler::route(
    const proxy::RouteRequest& request) {
    if (request.path == "/" || request.path == "/ethereum") {
        return proxy::Route{};
    }
    return proxy::RouteError::no_chain;
}

runtime::Task<> EchoHandler::handle(const proxy::ClientRequest& request,
                                    proxy::ResponseSink& sink) {
    ++running_;
    {
        const std::lock_guard lock(mutex_);
        bodies_.emplace_back(request.body);
    }
    const std::string_view body = request.body;
    proxy::ResponseHead head{.status = 200, .attempts = 1, .retry_after_seconds = 0};
    bool sent = true;
    if (body.starts_with("whole ")) {
        const std::string text(number_in(body, "whole "), 'w');
        const std::string_view piece = text;
        sent = co_await sink.send(head, {&piece, 1});
    } else if (body.starts_with("stream ")) {
        std::size_t left = number_in(body, "stream ");
        sent = co_await sink.begin(head);
        const std::string text(100'000, 's');
        while (sent && left != 0) {
            const std::size_t size = std::min(left, text.size());
            const std::array<std::string_view, 2> pieces = {
                std::string_view(text).substr(0, size / 2),
                std::string_view(text).substr(size / 2, size - size / 2)};
            sent = co_await sink.write(pieces);
            left -= size;
        }
        if (sent) {
            sent = co_await sink.end();
        }
    } else if (body == "abort") {
        sent = co_await sink.begin(head);
        const std::string_view piece = "the beginning of an answer";
        sent = co_await sink.write({&piece, 1});
        sink.abort();
    } else if (body == "204") {
        head.status = 204;
        sent = co_await sink.send(head, {});
    } else if (body == "limited") {
        head.status = 429;
        head.retry_after_seconds = 2;
        sent = co_await sink.send(head, {&body, 1});
    } else if (body != "silence") {
        if (body == "wait") {
            co_await released_.wait();
        }
        const std::array<std::string_view, 2> pieces = {body.substr(0, body.size() / 2),
                                                        body.substr(body.size() / 2)};
        sent = co_await sink.send(head, pieces);
    }
    broken_ += sent ? 0 : 1;
    --running_;
}

void EchoHandler::refused(const proxy::Refused&) {
    const std::lock_guard lock(mutex_);
    ++refusals_;
}

std::vector<std::string> EchoHandler::bodies() const {
    const std::lock_guard lock(mutex_);
    return bodies_;
}

std::size_t EchoHandler::refusals() const {
    const std::lock_guard lock(mutex_);
    return refusals_;
}

struct HttpServer::Parts {
    explicit Parts(const config::Server& settings)
        : budget(settings.max_buffered),
          state(server::settings_of(settings)),
          worker(0, clock, random, budget),
          work(worker.io.get_executor()),
          handler(worker.io),
          site(state, handler),
          listeners(open_or_throw({{"127.0.0.1", 0}})),
          server(worker, state, site, listeners.take(0)) {}

    runtime::SystemClock clock;
    runtime::SystemRandom random;
    runtime::MemoryBudget budget;
    server::ServerState state;
    runtime::Worker worker;
    boost::asio::executor_work_guard<runtime::Executor> work;
    EchoHandler handler;
    server::RpcSite site;
    server::Listeners listeners;
    server::Server server;
};

HttpServer::HttpServer(const config::Server& settings) : parts_(std::make_unique<Parts>(settings)) {
    parts_->server.start();
    thread_ = std::thread([this] { parts_->worker.io.run(); });
}

HttpServer::~HttpServer() {
    on_worker([this](server::Server& server) {
        server.stop_accepting();
        server.cut();
        parts_->handler.release();
    });
    drained(core::seconds(10));
    parts_->work.reset();
    parts_->worker.io.stop();
    thread_.join();
}

std::uint16_t HttpServer::port() const { return parts_->listeners.endpoints().front().port; }
EchoHandler& HttpServer::handler() { return parts_->handler; }
server::ServerState& HttpServer::state() { return parts_->state; }
runtime::MemoryBudget& HttpServer::budget() { return parts_->budget; }

void HttpServer::on_worker(const std::function<void(server::Server&)>& action) {
    std::promise<void> done;
    boost::asio::post(parts_->worker.io, [&] {
        action(parts_->server);
        done.set_value();
    });
    done.get_future().wait();
}

bool HttpServer::drained(core::Duration within) {
    std::promise<bool> result;
    const core::TimePoint deadline = std::chrono::steady_clock::now() + within;
    boost::asio::co_spawn(parts_->worker.io.get_executor(), parts_->server.drained(deadline),
                          [&result](std::exception_ptr, bool done) { result.set_value(done); });
    return result.get_future().get();
}

}  // namespace weir::test
