#include "proxy/head_answer.hpp"

#include "core/hex.hpp"
#include "jsonrpc/value.hpp"
#include "upstream/probe.hpp"

namespace weir::proxy {

std::optional<std::uint64_t> head_shown(HeadCall call, std::string_view json) {
    const std::string_view raw = call == HeadCall::number ? json : jsonrpc::member(json, "number");
    const auto text = jsonrpc::plain_string(raw);
    return text ? core::parse_quantity(*text) : std::nullopt;
}

void observe_head_answer(const HeadAnswer& answer, const runtime::Clock& clock) {
    // The same head once more is worth a word now and then: it postpones the next poll.
    constexpr core::Duration kOldNews = std::chrono::milliseconds(500);
    const auto pool = answer.chain.pool.snapshots().get();
    const routing::UpstreamView& known = pool->upstreams[answer.upstream];
    if (!known.head || answer.number < known.head->number) {
        return;
    }
    const bool names = answer.call != HeadCall::number;
    const bool news = answer.number > known.head->number || (names && known.head->hash.empty());
    if (!news && answer.at - known.head_at < kOldNews) {
        return;
    }
    chain::Observation observation;
    if (names) {
        observation = upstream::read_block(answer.json).value_or(observation);
    }
    observation.latest.number = answer.number;
    observation.at = answer.at;
    observation.wall = upstream::wall_seconds(clock);
    answer.chain.pool.observe_answer(answer.upstream, observation);
}

}  // namespace weir::proxy
