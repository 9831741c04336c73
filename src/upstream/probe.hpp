// The gateway's own questions to an upstream: the two methods that every node has.
#pragma once

#include "chain/observation.hpp"
#include "core/result.hpp"
#include "routing/provider_book.hpp"
#include "routing/verdict.hpp"
#include "runtime/ports.hpp"
#include "runtime/task.hpp"
#include "upstream/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::upstream {

// An upstream as the transport knows it, and the bounds of a probe.
struct ProbeTarget {
    std::size_t chain = 0;
    routing::UpstreamIndex upstream = 0;
    core::Duration timeout{};
    std::size_t max_reply = 0;
    const routing::Profile* profile = nullptr;  // reads its errors
    core::Duration max_cooldown{};
};

// The verdict tells why there is no answer; it blames the upstream unless it is a limit.
template <class T>
using ProbeResult = core::Result<T, routing::Verdict>;

runtime::Task<ProbeResult<std::uint64_t>> ask_chain_id(Transport& transport,
                                                       const runtime::Clock& clock,
                                                       ProbeTarget target,
                                                       Cancellation& cancellation);

runtime::Task<ProbeResult<chain::Observation>> ask_head(Transport& transport,
                                                        const runtime::Clock& clock,
                                                        ProbeTarget target,
                                                        Cancellation& cancellation);

// The block under a tag; nothing inside the result: the upstream has no such tag.
runtime::Task<ProbeResult<std::optional<chain::BlockId>>> ask_tag(Transport& transport,
                                                                  const runtime::Clock& clock,
                                                                  ProbeTarget target,
                                                                  chain::Tag tag,
                                                                  Cancellation& cancellation);

// The block of that number.
runtime::Task<ProbeResult<chain::BlockId>> ask_block(Transport& transport,
                                                     const runtime::Clock& clock,
                                                     ProbeTarget target, std::uint64_t number,
                                                     Cancellation& cancellation);

// A chain id as nodes write it: a QUANTITY, a decimal string, a number. Raw JSON in.
std::optional<std::uint64_t> read_chain_id(std::string_view result);

// A block object's number, hash, parent and time; nothing when number or hash is missing.
std::optional<chain::Observation> read_block(std::string_view result);

// The time of day as observations carry it: seconds since 1970.
std::uint64_t wall_seconds(const runtime::Clock& clock);

}  // namespace weir::upstream
