#include "proxy/long_result.hpp"

#include "jsonrpc/write.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace weir::proxy {
namespace {

using State = jsonrpc::EnvelopeScanner::State;

// The part of `bytes`, which stand at `offset` in the reply, that belongs to the result.
std::string_view result_part(const jsonrpc::Envelope& seen, std::string_view bytes,
                             std::size_t offset) {
    const jsonrpc::Range& range = *seen.result;
    const std::size_t begin = std::clamp(range.begin, offset, offset + bytes.size());
    const std::size_t end = std::clamp(range.end, begin, offset + bytes.size());
    return bytes.substr(begin - offset, end - begin);
}

bool is_broken(const jsonrpc::EnvelopeScanner& scanner) {
    const jsonrpc::Envelope& seen = scanner.envelope();
    return scanner.state() == State::broken ||
           (seen.error && !seen.error_is_null && seen.error->closed());
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
    std::array<std::string_view, 2> pieces{
        prefix, result_part(result.scanner.envelope(), result.read.bytes(), 0)};
    const bool first = co_await sink.write(pieces);
    if (!first) {
        co_return Passed::client_gone;
    }
    std::size_t offset = result.read.size();
    result.read.reset();
    runtime::Buffer chunk(services.worker.buffers);
    for (bool more = true; more;) {
        const auto step = co_await result.rest->read(chunk);
        if (!step) {
            sink.abort();
            co_return Passed::broken_off;
        }
        more = *step == upstream::ReplyRest::Chunk::more;
        result.scanner.feed(chunk.bytes());
        if (is_broken(result.scanner)) {
            sink.abort();
            co_return Passed::broken_off;
        }
        const std::array<std::string_view, 1> part{
            result_part(result.scanner.envelope(), chunk.bytes(), offset)};
        offset += chunk.size();
        if (!part[0].empty()) {
            const bool written = co_await sink.write(part);
            if (!written) {
                co_return Passed::client_gone;
            }
        }
    }
    if (result.scanner.state() != State::complete) {
        sink.abort();
        co_return Passed::broken_off;
    }
    const std::array<std::string_view, 1> brace{"}"};
    const bool closed = co_await sink.write(brace);
    if (!closed) {
        co_return Passed::client_gone;
    }
    const bool ended = co_await sink.end();
    co_return ended ? Passed::whole : Passed::client_gone;
}

}  // namespace weir::proxy
