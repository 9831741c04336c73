// The port through which everything is sent to providers.
#pragma once

#include "config/config.hpp"
#include "core/time.hpp"
#include "routing/snapshot.hpp"
#include "routing/verdict.hpp"
#include "runtime/buffer.hpp"
#include "runtime/task.hpp"
#include "upstream/http_reply_parser.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

namespace weir::upstream {

// Lets somebody else end an attempt that runs: the attempt's connection is closed and it reports
// connection_lost. One attempt at a time; same worker.
class Cancellation {
  public:
    void cancel();
    bool cancelled() const { return cancelled_; }

    // For the transport: what to do on cancel(); nullptr unhooks.
    struct Target {
        virtual void on_cancel() = 0;

      protected:
        ~Target() = default;
    };
    void hook(Target* target) { target_ = target; }

  private:
    Target* target_ = nullptr;
    bool cancelled_ = false;
};

enum class Connection : std::uint8_t {
    pooled,       // an idle one if it shows no sign of being stale
    never_stale,  // for writes: freshly opened, or idle for so short a time that it cannot be stale
};

// One message to one upstream. What the views point to must live until send() returns.
struct Attempt {
    std::size_t chain = 0;  // place in the configuration
    routing::UpstreamIndex upstream = 0;
    std::span<const std::string_view> body;  // JSON, in pieces that go out one after another
    core::TimePoint now;                     // when it is begun
    core::TimePoint deadline;
    Connection connection = Connection::pooled;
    std::size_t reply_buffer = 0;  // a body up to this comes whole
    std::size_t max_reply = 0;     // a body beyond this is a failure
    RateFields rate_fields = RateFields::of_refusals;
    Cancellation* cancellation = nullptr;  // may be null
};

// The rest of a body that is longer than `reply_buffer`. Destroying it before the end closes the
// connection; after the end the connection goes back to its pool.
class ReplyRest {
  public:
    virtual ~ReplyRest() = default;

    // Replaces what `into` held with the next bytes of the body. False in `Chunk::more` once the
    // body has ended; a failure when it broke off, went over `max_reply` or over the deadline.
    // Where memory is short it waits until there is some.
    enum class Chunk : std::uint8_t { more, end };
    virtual runtime::Task<core::Result<Chunk, routing::TransportFailure>> read(
        runtime::Buffer& into) = 0;

    virtual void set_deadline(core::TimePoint deadline) = 0;
};

struct TransportReply {
    routing::HttpHead head;
    runtime::Buffer body;             // decoded (chunks, gzip); whole when `rest` is null
    std::unique_ptr<ReplyRest> rest;  // the body goes on
    core::TimePoint at;               // when this much of it was here
};

using TransportResult = core::Result<TransportReply, routing::TransportFailure>;

// One per worker; its calls stay on that worker. Never throws for what a peer does.
class Transport {
  public:
    virtual ~Transport() = default;
    virtual runtime::Task<TransportResult> send(const Attempt& attempt) = 0;
};

}  // namespace weir::upstream
