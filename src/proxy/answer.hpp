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
#include <variant>

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
        return Answer(kind, raw, std::move(body));
    }
    // `raw` points into `body`, which holds other answers too.
    static Answer shared(Kind kind, std::string_view raw,
                         std::shared_ptr<const runtime::Buffer> body) {
        return Answer(kind, raw, std::move(body));
    }
    static Answer own_result(std::string json) { return Answer(Kind::result, {}, std::move(json)); }
    // An upstream's error that is not held in the buffer it came in.
    static Answer copied_error(std::string json) {
        return Answer(Kind::rpc_error, {}, std::move(json));
    }
    static Answer failed(GatewayError error) {
        return Answer(Kind::gateway_error, {}, std::make_unique<GatewayError>(std::move(error)));
    }
    static Answer streamed(std::unique_ptr<LongResult> rest) {
        return Answer(Kind::long_result, {}, std::move(rest));
    }

    Kind kind() const { return kind_; }

    // The raw JSON of a result or an rpc_error.
    std::string_view json() const {
        const auto* const own = std::get_if<std::string>(&held_);
        return own != nullptr ? std::string_view(*own) : raw_;
    }
    const GatewayError& error() const { return *std::get<std::unique_ptr<GatewayError>>(held_); }
    LongResult& long_result() { return *std::get<std::unique_ptr<LongResult>>(held_); }

    // Small values are copied out of their buffer, so that a large batch does not pin one each. The
    // copy is charged to `held`; a value that finds no room there stays where it is.
    void compact(runtime::Charge& held);

    std::optional<routing::UpstreamIndex> upstream;  // who gave it
    unsigned attempts = 0;
    bool given_up = false;         // no attempt brought a usable answer: the best that is left
    bool upstream_failed = false;  // an rpc_error that tells of the upstream's trouble only

  private:
    using Held = std::variant<runtime::Buffer, std::shared_ptr<const runtime::Buffer>, std::string,
                              std::unique_ptr<GatewayError>, std::unique_ptr<LongResult>>;

    Answer(Kind kind, std::string_view raw, Held held)
        : kind_(kind), raw_(raw), held_(std::move(held)) {}

    Kind kind_;
    std::string_view raw_;  // into a buffer that is held
    Held held_;
};

inline void Answer::compact(runtime::Charge& held) {
    constexpr std::size_t kSmall = 4096;
    if (std::holds_alternative<runtime::Buffer>(held_) && raw_.size() <= kSmall &&
        held.add(raw_.size())) {
        held_ = std::string(raw_);
    }
}

}  // namespace weir::proxy
