#include "transport_fixture.hpp"

#include <algorithm>
#include <array>

namespace weir::test {
namespace {

using Slot = std::shared_ptr<std::optional<Outcome>>;

runtime::Task<> attempt_task(TransportFixture& fixture, AttemptOptions options, Slot slot) {
    const std::string_view whole = options.body;
    const std::array<std::string_view, 3> pieces = {whole.substr(0, whole.size() / 2), "",
                                                    whole.substr(whole.size() / 2)};
    upstream::Attempt attempt;
    attempt.body = pieces;
    attempt.now = fixture.clock.now();
    attempt.deadline = attempt.now + options.time;
    attempt.connection = options.connection;
    attempt.reply_buffer = options.reply_buffer;
    attempt.max_reply = options.max_reply;
    attempt.cancellation = options.cancellation;
    upstream::TransportResult result = co_await fixture.transport->send(attempt);
    Outcome outcome;
    if (!result) {
        outcome.failure = result.error();
        *slot = outcome;
        co_return;
    }
    outcome.head = result->head;
    outcome.body = result->body.bytes();
    outcome.had_rest = result->rest != nullptr;
    if (result->rest && options.read_rest) {
        result->body.reset();
        result->rest->set_deadline(attempt.deadline);
        runtime::Buffer piece(fixture.worker.buffers);
        for (;;) {
            auto chunk = co_await result->rest->read(piece);
            fixture.most_buffered = std::max(fixture.most_buffered, fixture.budget.used());
            if (!chunk) {
                outcome.failure = chunk.error();
                break;
            }
            outcome.body += piece.bytes();
            if (*chunk == upstream::ReplyRest::Chunk::end) {
                break;
            }
        }
    }
    *slot = outcome;
}

}  // namespace

TransportFixture::TransportFixture(std::uint16_t port, upstream::TransportSettings settings,
                                   const std::function<void(config::Chain&)>& adjust,
                                   std::size_t max_buffered)
    : budget(max_buffered), worker(0, clock, random, budget), tasks(worker.io) {
    config::Chain chain;
    chain.name = "test";
    config::Upstream peer;
    peer.name = "peer";
    peer.url.host = "127.0.0.1";
    peer.url.port = port;
    peer.url.target = core::Secret("/v2/key");
    chain.upstreams.push_back(peer);
    if (adjust) {
        adjust(chain);
    }
    chains.push_back(chain);
    auto made = upstream::HttpTransport::create(worker, chains, std::move(settings));
    REQUIRE(made.has_value());
    transport = std::move(*made);
}

TransportFixture::~TransportFixture() = default;

std::shared_ptr<std::optional<Outcome>> TransportFixture::start(AttemptOptions options) {
    auto slot = std::make_shared<std::optional<Outcome>>();
    tasks.spawn(attempt_task(*this, std::move(options), slot));
    return slot;
}

bool TransportFixture::drive(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        worker.io.restart();
        worker.io.run_one_for(std::chrono::milliseconds(10));
    }
    return true;
}

Outcome TransportFixture::send(AttemptOptions options) {
    const auto slot = start(std::move(options));
    REQUIRE(drive([&] { return slot->has_value(); }));
    return **slot;
}

}  // namespace weir::test
