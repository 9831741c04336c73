// One attempt of a call that is bound to a block: by hash where the upstream takes it, else by
// number, with the hash at that number checked before and after.
#pragma once

#include "proxy/attempt.hpp"
#include "proxy/pinned_block.hpp"

namespace weir::proxy {

// Does the upstream have the block that the call is bound to, and take its hash in this call?
runtime::Task<bool> may_go_by_hash(const CallPlan& plan, routing::UpstreamIndex upstream);

// May the hash be what the upstream stumbles at? Then the call is asked alone, and by number, which
// tells. `answer` is what it said, if anything.
bool is_doubtful(const routing::Verdict& verdict, const std::optional<Answer>& answer);

// `plan.pinned` is set. What comes back is of the block, or a verdict on why nothing is; the
// upstream may not have been asked at all (Judged::unasked).
runtime::Task<Judged> send_pinned(Services& services, ChainContext& chain, const CallPlan& plan,
                                  const AttemptOptions& options);

}  // namespace weir::proxy
