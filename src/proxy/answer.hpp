// What one call came to.
#pragma once

#include "jsonrpc/reply.hpp"
#include "proxy/gateway_error.hpp"
#include "routing/snapshot.hpp"
#include "runtime/buffer.hpp"
#include "upstream/pool.hpp"
#include "upstream/transport.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weir::proxy {

// A result that is longer than the reply buffer: its head was checked, the rest is still coming.
struct LongResult {
    runtime::Buffer read;  // what has been received
    std::unique_ptr<upstream::ReplyRest> rest;
    jsonrpc::EnvelopeScanner scanner;  // has seen all of `read`
    upstream::Permit permit;           // held until the last byte
};

// A result or an error as an upstream sent it, a value of the gateway's own, or a gateway error.
class Answer {
  public:
    enum class Kind { result, rpc_error, gateway_error, long_result };

    // `raw` points into `body`.
    static Answer received(Kind kind, std::string_view raw, runtime::Buffer body) {
        Answer answer(kind);
        answer.raw_ = raw;
        answer.body_.emplace(std::move(body));
        return answer;
    }
    // `raw` points into `body`, which holds other answers too.
    static Answer shared(Kind kind, std::string_view raw,
                         std::shared_ptr<const runtime::Buffer> body) {
        Answer answer(kind);
        answer.raw_ = raw;
        answer.shared_ = std::move(body);
        return answer;
    }
    static Answer own_result(std::string json) {
        Answer answer(Kind::result);
        answer.own_ = std::move(json);
        return answer;
    }
    // An upstream's error that is not held in the buffer it came in.
    static Answer copied_error(std::string json) {
        Answer answer(Kind::rpc_error);
        answer.own_ = std::move(json);
        return answer;
    }
    static Answer failed(GatewayError error) {
        Answer answer(Kind::gateway_error);
        answer.error_ = std::make_unique<GatewayError>(std::move(error));
        return answer;
    }
    static Answer streamed(std::unique_ptr<LongResult> rest) {
        Answer answer(Kind::long_result);
        answer.long_ = std::move(rest);
        return answer;
    }

    Kind kind() const { return kind_; }

    // The raw JSON of a result or an rpc_error.
    std::string_view json() const { return body_ || shared_ ? raw_ : std::string_view(own_); }
    const GatewayError& error() const { return *error_; }
    LongResult& long_result() { return *long_; }

    // Small values are copied out of their buffer, so that a large batch does not pin one each. The
    // copy is charged to `held`; a value that finds no room there stays where it is.
    void compact(runtime::Charge& held);

    std::optional<routing::UpstreamIndex> upstream;  // who gave it
    unsigned attempts = 0;
    bool given_up = false;  // no attempt brought a usable answer: the best that is left

  private:
    explicit Answer(Kind kind) : kind_(kind) {}

    Kind kind_;
    std::string_view raw_;
    std::string own_;
    std::optional<runtime::Buffer> body_;
    std::shared_ptr<const runtime::Buffer> shared_;
    std::unique_ptr<GatewayError> error_;
    std::unique_ptr<LongResult> long_;
};

inline void Answer::compact(runtime::Charge& held) {
    constexpr std::size_t kSmall = 4096;
    if (body_ && raw_.size() <= kSmall && held.add(raw_.size())) {
        own_ = raw_;
        body_.reset();
    }
}

}  // namespace weir::proxy
