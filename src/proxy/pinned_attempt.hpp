// One attempt of a call that is bound to a block: by hash where the upstream takes it, else by
// number, with the hash at that number checked before and after.
#pragma once

#include "proxy/attempt.hpp"
#include "proxy/pinned_block.hpp"

#include <cstdint>

namespace weir::proxy {

// Does the upstream have the block that the call is bound to, and take its hash in this call?
runtime::Task<bool> may_go_by_hash(const CallPlan& plan, routing::UpstreamIndex upstream);

// What came of a read by hash.
enum class HashReply : std::uint8_t {
    final,          // nothing to do with how the block was named
    unknown_block,  // this upstream does not have it, or not all of its nodes do
    not_by_hash,    // perhaps it does not take hashes: by number it tells
    other_block,    // it did not look at the hash
};
HashReply hash_reply(const CallPlan& plan, const routing::Verdict& verdict,
                     const std::optional<Answer>& answer);

// `plan.pinned` is set. What comes back is of the block, or a verdict on why nothing is; the
// upstream may not have been asked at all (Judged::unasked).
runtime::Task<Judged> send_pinned(Services& services, ChainContext& chain, const CallPlan& plan,
                                  const AttemptOptions& options);

// It lacked the block that the call is bound to, and is to be asked once more: of a cluster another
// node may have it, or the same one in a moment.
bool may_yet_have_block(const CallPlan& plan, routing::UpstreamIndex upstream,
                        routing::Cause cause);

}  // namespace weir::proxy
