// The answer to one request on its way to the client: the sink that the request handler writes
// to, and what the server answers by itself. Like wire.hpp for the server's own .cpp files.
#pragma once

#include "proxy/exchange.hpp"
#include "server/connection.hpp"
#include "server/request_head.hpp"
#include "server/response_head.hpp"
#include "server/site.hpp"
#include "server/wire.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir::server {

// One per connection, used for one request after another.
class Answer final : public proxy::ResponseSink {
  public:
    Answer(ConnectionContext& context, Wire& wire);

    // Begins the answer to the request of this head; its id and version are taken over.
    void open(const RequestHead& head);
    void allow_origin(std::string_view origin) { allow_origin_ = origin; }
    void close_afterwards() { persistence_ = Persistence::close; }

    runtime::Task<bool> reply(const Reply& reply, unsigned retry_after_seconds);

    Sent send_now(const proxy::ResponseHead& head, std::span<const std::string_view> body) override;
    runtime::Task<bool> send_rest() override;
    runtime::Task<bool> begin(const proxy::ResponseHead& head) override;
    runtime::Task<bool> write(std::span<const std::string_view> pieces) override;
    runtime::Task<bool> end() override;
    void abort() override;

    bool whole() const { return state_ == State::whole; }
    Persistence persistence() const { return persistence_; }
    std::string_view request_id() const { return {request_id_.data(), request_id_size_}; }
    core::TimePoint finished_at() const override { return finished_at_; }

  private:
    enum class State : std::uint8_t { nothing, streaming, whole, broken };

    void make_request_id(std::string_view wished);
    AnswerHead common_head(int status);
    AnswerHead head_of(const proxy::ResponseHead& head);
    runtime::Task<bool> send_rest_of(Wire::Outgoing out);
    bool settle(bool sent, State success);

    ConnectionContext& context_;
    Wire& wire_;
    core::TimePoint finished_at_;

    State state_ = State::nothing;
    Version version_ = Version::http11;
    Persistence persistence_ = Persistence::keep_alive;
    bool omit_body_ = false;  // of an answer to HEAD
    std::array<char, 64> request_id_{};
    std::size_t request_id_size_ = 0;
    std::string allow_origin_;
    std::string lead_;     // of a streamed answer: what goes out before the next pieces
    Wire::Outgoing rest_;  // of a whole one that the client did not take at once
};

}  // namespace weir::server
