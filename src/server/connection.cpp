#include "server/connection.hpp"

#include "server/answer.hpp"
#include "server/chunked_body.hpp"
#include "server/own_refusals.hpp"
#include "server/wire.hpp"

#include <boost/asio/this_coro.hpp>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace weir::server {
class Connection::Impl final : private Wire::Watcher {
  public:
    Impl(ConnectionContext& context, int descriptor, std::string peer, Reach reach)
        : context_(context),
          settings_(context.settings.get()),
          peer_(std::move(peer)),
          reach_(reach),
          wire_(context.worker, descriptor),
          answer_(context, wire_) {}

    runtime::Task<> serve();
    runtime::Task<> turn_away();
    void close_if_idle();
    // What runs for the client is told to end: its reads are given up, its writes are not.
    void cut() {
        wire_.cut();
        answer_.client().leave();
    }

  private:
    enum class Next : std::uint8_t { request, close, cut };
    enum class BodyRead : std::uint8_t { ready, refused, gone };

    void on_gone() override { answer_.client().leave(); }

    runtime::Task<bool> secure();
    void take_settings();
    void wait_for_head();
    runtime::Task<Next> head_ended(Wire::Read read);
    runtime::Task<Next> answer_request(const HeadScanner& scanner);
    runtime::Task<Next> answer_here(Decision decision);
    runtime::Task<Next> forward(Forward forward);
    void begin_answer(const RequestHead& head);
    bool serves(std::string_view host);
    Decision judge(const RequestHead& head);
    bool skip_body();
    runtime::Task<BodyRead> read_body();
    runtime::Task<BodyRead> read_plain_body();
    runtime::Task<BodyRead> read_chunked_body();
    BodyRead body_ended(Wire::Read read);
    bool send_continue();
    runtime::Task<bool> refuse(Refusal refusal);
    runtime::Task<Next> refuse_and_close(Refusal refusal);
    Next after_answer() const;

    ConnectionContext& context_;
    const Limits& limits() const { return settings_->limits; }

    std::shared_ptr<const Settings> settings_;  // of the current request
    const std::string peer_;
    std::string origin_;  // of the current request: the peer, or who sent it through a proxy
    const Reach reach_;
    std::string served_host_;  // the last one that was
    Wire wire_;
    Answer answer_;
    bool served_one_ = false;
    bool waiting_ = false;     // for a head
    bool idle_ = true;         // no byte of a head is here, but for the empty line before one
    bool head_begun_ = false;  // its first byte is here

    // Of the current request.
    core::TimePoint received_;
    Framing framing_ = Framing::no_body;
    std::uint64_t content_length_ = 0;
    std::size_t body_size_ = 0;
    bool expects_continue_ = false;
    Refusal refusal_;     // of its body
    proxy::Route route_;  // of one that is refused: as far as it is known
};

runtime::Task<> Connection::Impl::serve() {
    // A cancelled wait ends with an error code here, not with an exception.
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    if (settings_->tls) {
        const bool secured = co_await secure();
        if (!secured) {
            co_return;
        }
    }
    Next next = Next::request;
    while (next == Next::request) {
        take_settings();
        HeadScanner scanner(limits().max_header);
        head_begun_ = false;
        HeadScanner::State state = scanner.advance(wire_.buffer().bytes());
        idle_ = scanner.begin() == wire_.buffer().size();
        while (state == HeadScanner::State::more && next == Next::request) {
            waiting_ = true;
            wait_for_head();
            std::optional<Wire::Read> read = wire_.try_read(0);
            if (!read) {
                const auto [error] = co_await wire_.wait_readable();
                read = wire_.woken(error);
            }
            if (read == Wire::Read::data) {
                state = scanner.advance(wire_.buffer().bytes());
                idle_ = scanner.begin() == wire_.buffer().size();
            } else if (read) {
                next = co_await head_ended(*read);
            }
        }
        waiting_ = false;
        wire_.clear_deadline();
        if (state == HeadScanner::State::complete) {
            next = co_await answer_request(scanner);
        } else if (state == HeadScanner::State::refused) {
            begin_answer(RequestHead());
            const Refusal refusal = scanner.refusal();
            next = co_await refuse_and_close(refusal);
        }
    }
    if (next == Next::close) {
        co_await wire_.close();
    } else {
        wire_.cut();
    }
}

// A new connection has the time of a head for this too. False: it is closed.
runtime::Task<bool> Connection::Impl::secure() {
    wire_.set_deadline(answer_.finished_at() + limits().header_timeout);
    std::unique_ptr<runtime::TlsSession> session = settings_->tls->accept();
    const bool secured = co_await wire_.secure(std::move(session));
    if (!secured) {
        co_await wire_.close();
    }
    co_return secured;
}

// Those that hold now; the current request keeps them.
void Connection::Impl::take_settings() {
    const std::shared_ptr<const Settings>& now = context_.settings.get();
    if (now != settings_) {
        settings_ = now;
        served_host_.clear();
    }
}

// A new connection has the time for one head to say something; later ones may idle first.
void Connection::Impl::wait_for_head() {
    if (idle_ && served_one_) {
        head_begun_ = false;
        wire_.set_idle_deadline(answer_.finished_at(),
                                answer_.finished_at() + limits().idle_timeout);
    } else if (!served_one_) {
        wire_.set_deadline(answer_.finished_at() + limits().header_timeout);
    } else if (!head_begun_) {
        head_begun_ = true;
        wire_.set_deadline(context_.worker.clock.now() + limits().header_timeout);
    }
}

runtime::Task<Connection::Impl::Next> Connection::Impl::head_ended(Wire::Read read) {
    const std::optional<Refusal> refusal = refusal_for(read);
    if (!refusal) {
        co_return Next::cut;
    }
    if (idle_ && read != Wire::Read::no_memory) {
        co_return Next::close;
    }
    begin_answer(RequestHead());
    const Next next = co_await refuse_and_close(*refusal);
    co_return next;
}

runtime::Task<Connection::Impl::Next> Connection::Impl::answer_request(const HeadScanner& scanner) {
    received_ = context_.worker.clock.now();
    served_one_ = true;
    const std::string_view bytes =
        wire_.buffer().bytes().substr(scanner.begin(), scanner.end() - scanner.begin());
    RequestHead head;
    const std::optional<Refusal> malformed = parse_head(bytes, head);
    begin_answer(head);
    if (malformed) {
        return refuse_and_close(*malformed);
    }
    Decision decision = judge(head);
    if (std::holds_alternative<Refusal>(decision)) {
        route_ = context_.site.route_of(head.path);
    }
    wire_.buffer().consume(scanner.end());  // ends the head's views
    if (auto* const accepted = std::get_if<Forward>(&decision)) {
        return forward(std::move(*accepted));
    }
    return answer_here(std::move(decision));
}

// Answers without the request's body.
runtime::Task<Connection::Impl::Next> Connection::Impl::answer_here(Decision decision) {
    const auto* refusal = std::get_if<Refusal>(&decision);
    // Whoever sends a body without its length means what follows to be one.
    const bool unsure = refusal != nullptr && refusal->type == proxy::ErrorType::http_error;
    if (!skip_body() || unsure) {
        answer_.close_afterwards();
    }
    bool sent = false;
    if (refusal != nullptr) {
        sent = co_await refuse(*refusal);
    } else {
        sent = co_await answer_.reply(std::get<Reply>(decision), 0);
    }
    co_return sent ? after_answer() : Next::cut;
}

runtime::Task<Connection::Impl::Next> Connection::Impl::forward(Forward forward) {
    const bool here = framing_ == Framing::length && wire_.buffer().size() >= content_length_;
    body_size_ = static_cast<std::size_t>(content_length_);
    if (!here) {
        const BodyRead body = co_await read_body();
        if (body == BodyRead::gone) {
            co_return Next::cut;
        }
        if (body == BodyRead::refused) {
            route_ = std::move(forward.route);
            const Next next = co_await refuse_and_close(refusal_);
            co_return next;
        }
    }
    const Place place(context_.state.in_flight);
    if (place.held()) {
        const proxy::ClientRequest request{
            .route = std::move(forward.route),
            .body = wire_.buffer().bytes().substr(0, body_size_),
            .request_id = answer_.request_id(),
            .peer = origin_,
            .received = received_,
            .pin = forward.pin.get(),
            .room = context_.state.in_flight.left(),
        };
        wire_.watch(*this, received_);
        co_await forward.handler->handle(request, answer_);
        wire_.unwatch();
    } else {
        route_ = std::move(forward.route);
        const bool sent = co_await refuse(kOverloaded);
        static_cast<void>(sent);
    }
    wire_.buffer().consume(body_size_);
    if (wire_.buffer().empty() && wire_.buffer().capacity() > runtime::BufferPool::kBlock) {
        wire_.buffer().reset();
    }
    co_return after_answer();
}

Connection::Impl::Next Connection::Impl::after_answer() const {
    if (!answer_.whole()) {
        return Next::cut;
    }
    return answer_.persistence() == Persistence::close ? Next::close : Next::request;
}

void Connection::Impl::begin_answer(const RequestHead& head) {
    framing_ = head.framing;
    content_length_ = head.content_length;
    expects_continue_ = head.expects_continue;
    origin_ = settings_->proxies.origin_of(peer_, head.forwarded_for);
    answer_.open(head);
}

// A client names the same host in all its requests.
bool Connection::Impl::serves(std::string_view host) {
    if (!host.empty() && host == served_host_) {
        return true;
    }
    if (!settings_->rules.serves_host(host, reach_)) {
        return false;
    }
    served_host_ = host;
    return true;
}

Decision Connection::Impl::judge(const RequestHead& head) {
    const AccessRules& rules = settings_->rules;
    const bool host_served = head.host ? serves(*head.host) : rules.serves_hostless();
    const std::string_view host = head.host.value_or(std::string_view());
    if (!host_served || (head.authority && !rules.serves_target(*head.authority, host, reach_))) {
        return kForbiddenHost;
    }
    OriginVerdict origin;
    if (head.origin) {
        origin = rules.judge_origin(*head.origin, reach_);
        if (origin.kind == OriginVerdict::Kind::forbidden) {
            return kForbiddenOrigin;
        }
        answer_.allow_origin(origin.allow_origin);
    }
    return context_.site.decide(head, origin);
}

// Throws away the body of a request that is answered without it. False: its end is not here yet,
// so no further request can be read.
bool Connection::Impl::skip_body() {
    if (framing_ == Framing::no_body) {
        return true;
    }
    if (framing_ == Framing::length && content_length_ <= wire_.buffer().size()) {
        wire_.buffer().consume(static_cast<std::size_t>(content_length_));
        return true;
    }
    return false;
}

runtime::Task<Connection::Impl::BodyRead> Connection::Impl::read_body() {
    wire_.set_deadline(received_ + limits().body_timeout);
    if (expects_continue_ && wire_.buffer().empty() && !send_continue()) {
        co_return BodyRead::gone;
    }
    BodyRead result = BodyRead::gone;
    if (framing_ == Framing::chunked) {
        result = co_await read_chunked_body();
    } else {
        result = co_await read_plain_body();
    }
    wire_.clear_deadline();
    co_return result;
}

runtime::Task<Connection::Impl::BodyRead> Connection::Impl::read_plain_body() {
    while (wire_.buffer().size() < body_size_) {
        const Wire::Read read = co_await wire_.read(body_size_ - wire_.buffer().size());
        if (read != Wire::Read::data) {
            co_return body_ended(read);
        }
    }
    co_return BodyRead::ready;
}

runtime::Task<Connection::Impl::BodyRead> Connection::Impl::read_chunked_body() {
    runtime::Buffer& buffer = wire_.buffer();
    ChunkedBody decoder(limits().max_body);
    body_size_ = 0;
    for (;;) {
        // The decoded part stands first; what the decoder leaves is moved up to it.
        char* const raw = buffer.data() + body_size_;
        const std::size_t size = buffer.size() - body_size_;
        const ChunkedBody::State state = decoder.feed(raw, size, raw);
        const std::size_t left = size - decoder.consumed();
        std::memmove(raw + decoder.produced(), raw + decoder.consumed(), left);
        body_size_ += decoder.produced();
        buffer.truncate(body_size_ + left);
        if (state == ChunkedBody::State::complete) {
            co_return BodyRead::ready;
        }
        if (state == ChunkedBody::State::refused) {
            refusal_ = decoder.refusal();
            co_return BodyRead::refused;
        }
        const Wire::Read read = co_await wire_.read(0);
        if (read != Wire::Read::data) {
            co_return body_ended(read);
        }
    }
}

Connection::Impl::BodyRead Connection::Impl::body_ended(Wire::Read read) {
    const std::optional<Refusal> refusal = refusal_for(read);
    if (!refusal) {
        return BodyRead::gone;
    }
    refusal_ = *refusal;
    return BodyRead::refused;
}

bool Connection::Impl::send_continue() {
    Wire::Outgoing out{.prefix = kContinue, .pieces = {}, .suffix = {}};
    return wire_.send_now(out) == Wire::Sent::all;
}

runtime::Task<bool> Connection::Impl::refuse(Refusal refusal) {
    const proxy::GatewayError error{.type = refusal.type,
                                    .message = std::string(refusal.message),
                                    .extra_data = {},
                                    .http_status = refusal.status};
    const proxy::Route route = std::exchange(route_, {});
    context_.site.refused(
        {.error = error, .request_id = answer_.request_id(), .peer = origin_, .route = route});
    Reply reply{.status = refusal.status,
                .content_type = "application/json",
                .headers = std::string(refusal.headers),
                .body = {}};
    proxy::append_error_reply(reply.body, {}, error);
    const unsigned retry_after =
        refusal.type == proxy::ErrorType::overloaded ? kRetryAfterOverload : 0;
    const bool sent = co_await answer_.reply(reply, retry_after);
    co_return sent;
}

runtime::Task<Connection::Impl::Next> Connection::Impl::refuse_and_close(Refusal refusal) {
    answer_.close_afterwards();
    const bool sent = co_await refuse(refusal);
    co_return sent ? Next::close : Next::cut;
}

runtime::Task<> Connection::Impl::turn_away() {
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    if (settings_->tls) {
        const bool secured = co_await secure();
        if (!secured) {
            co_return;
        }
    }
    begin_answer(RequestHead());
    const Next next = co_await refuse_and_close(kOverloaded);
    static_cast<void>(next);
    co_await wire_.close();
}

void Connection::Impl::close_if_idle() {
    if (waiting_ && idle_) {
        wire_.cut_if_silent();
    }
}

Connection::Connection(ConnectionContext& context, int descriptor, std::string peer, Reach reach)
    : impl_(std::make_unique<Impl>(context, descriptor, std::move(peer), reach)) {}

Connection::~Connection() = default;

runtime::Task<> Connection::serve() { return impl_->serve(); }

runtime::Task<> Connection::turn_away() { return impl_->turn_away(); }

void Connection::close_if_idle() { impl_->close_if_idle(); }

void Connection::cut() { impl_->cut(); }

}  // namespace weir::server
