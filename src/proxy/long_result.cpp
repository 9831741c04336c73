#include "proxy/long_result.hpp"

#include "jsonrpc/write.hpp"
#include "runtime/event.hpp"
#include "runtime/task_group.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace weir::proxy {
namespace {

using State = jsonrpc::EnvelopeScanner::State;

// Leaves of `bytes`, which stand at `offset` in the reply, what belongs to the result.
void keep_result(const jsonrpc::Envelope& seen, runtime::Buffer& bytes, std::size_t offset) {
    const jsonrpc::Range& range = *seen.result;
    const std::size_t begin = std::clamp(range.begin, offset, offset + bytes.size());
    const std::size_t end = std::clamp(range.end, begin, offset + bytes.size());
    bytes.truncate(end - offset);
    bytes.consume(begin - offset);
}

bool is_broken(const jsonrpc::EnvelopeScanner& scanner) {
    const jsonrpc::Envelope& seen = scanner.envelope();
    return scanner.state() == State::broken ||
           (seen.error && !seen.error_is_null && seen.error->closed());
}

// Two tasks: one reads the upstream's message and checks it, one writes to the client. Reading runs
// ahead of a slow client while memory is plentiful, so that a slow client does not hold an
// upstream.
class Passage {
  public:
    Passage(Services& services, LongResult& result, ResponseSink& sink)
        : services_(services),
          result_(result),
          sink_(sink),
          backlog_(services.worker.buffers),
          readable_(services.worker.io),
          writable_(services.worker.io),
          reader_(services.worker.io) {}

    runtime::Task<Passed> run(std::string_view prefix);

  private:
    enum class Reading { going, whole, broken, given_up };

    runtime::Task<> read_all(std::size_t offset);  // of the next byte in the reply
    bool is_own(const routing::TransportFailure& failure) const;
    bool hold_back(runtime::Buffer& part);
    void end_reading(Reading how);
    runtime::Task<Passed> write_all(std::string_view prefix);

    Services& services_;
    LongResult& result_;
    ResponseSink& sink_;
    Reading reading_ = Reading::going;
    bool client_gone_ = false;
    bool held_up_ = false;     // reading has waited for the client
    runtime::Buffer backlog_;  // read and checked, not yet taken by the writer
    runtime::Event readable_;  // the backlog has grown, or reading has ended
    runtime::Event writable_;  // the backlog was taken, or nobody wants it
    runtime::TaskGroup reader_;
};

runtime::Task<Passed> Passage::run(std::string_view prefix) {
    const std::size_t read = result_.read.size();
    keep_result(result_.scanner.envelope(), result_.read, 0);
    reader_.spawn(read_all(read));
    const Passed passed = co_await write_all(prefix);
    if (reading_ == Reading::going) {
        client_gone_ = true;
        writable_.set();
        result_.rest->set_deadline(services_.worker.clock.now());
    }
    co_await reader_.join();
    co_return passed;
}

runtime::Task<> Passage::read_all(std::size_t offset) {
    runtime::Buffer chunk(services_.worker.buffers);
    for (bool more = true; more;) {
        const auto step = co_await result_.rest->read(chunk);
        if (!step) {
            end_reading(is_own(step.error()) ? Reading::given_up : Reading::broken);
            co_return;
        }
        more = *step == upstream::ReplyRest::Chunk::more;
        result_.scanner.feed(chunk.bytes());
        if (is_broken(result_.scanner)) {
            end_reading(Reading::broken);
            co_return;
        }
        const std::size_t size = chunk.size();
        keep_result(result_.scanner.envelope(), chunk, offset);
        offset += size;
        while (!client_gone_ && !hold_back(chunk)) {
            held_up_ = true;
            writable_.reset();
            co_await writable_.wait();
        }
        if (client_gone_) {
            end_reading(Reading::broken);
            co_return;
        }
        readable_.set();
    }
    end_reading(result_.scanner.state() == State::complete ? Reading::whole : Reading::broken);
}

// Not the upstream's doing.
bool Passage::is_own(const routing::TransportFailure& failure) const {
    return failure.origin != routing::TransportFailure::Origin::upstream ||
           (held_up_ && failure.cause == routing::Cause::timeout);
}

// Moves `part` to the backlog. False: the client is to take what is there first.
bool Passage::hold_back(runtime::Buffer& part) {
    if (backlog_.empty()) {
        std::swap(backlog_, part);
        return true;
    }
    return !services_.worker.buffers.is_scarce() && backlog_.append(part.bytes());
}

// The upstream is free for other calls from here on.
void Passage::end_reading(Reading how) {
    reading_ = how;
    result_.rest.reset();
    result_.permit = upstream::Permit();
    readable_.set();
}

runtime::Task<Passed> Passage::write_all(std::string_view prefix) {
    const std::array<std::string_view, 2> first{prefix, result_.read.bytes()};
    bool written = co_await sink_.write(first);
    result_.read.reset();
    runtime::Buffer part(services_.worker.buffers);
    while (written) {
        while (backlog_.empty() && reading_ == Reading::going) {
            readable_.reset();
            co_await readable_.wait();
        }
        if (reading_ == Reading::broken || reading_ == Reading::given_up) {
            sink_.abort();
            co_return reading_ == Reading::broken ? Passed::broken_off : Passed::given_up;
        }
        if (backlog_.empty()) {
            break;
        }
        part.clear();
        std::swap(part, backlog_);
        writable_.set();
        const std::array<std::string_view, 1> pieces{part.bytes()};
        written = co_await sink_.write(pieces);
    }
    if (!written) {
        co_return Passed::client_gone;
    }
    const std::array<std::string_view, 1> brace{"}"};
    const bool closed = co_await sink_.write(brace);
    if (!closed) {
        co_return Passed::client_gone;
    }
    const bool ended = co_await sink_.end();
    co_return ended ? Passed::whole : Passed::client_gone;
}

}  // namespace

runtime::Task<Passed> pass_on(Services& services, LongResult& result, std::string_view id,
                              const ResponseHead& head, core::TimePoint deadline,
                              ResponseSink& sink) {
    result.rest->set_deadline(deadline);
    const bool begun = co_await sink.begin(head);
    if (!begun) {
        co_return Passed::client_gone;
    }
    std::string prefix;
    jsonrpc::append_result_head(prefix, id);
    Passage passage(services, result, sink);
    const Passed passed = co_await passage.run(prefix);
    co_return passed;
}

}  // namespace weir::proxy
