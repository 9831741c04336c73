// An attempt's outcome to a verdict. Pure.
#pragma once

#include "routing/provider_book.hpp"
#include "routing/verdict.hpp"

namespace weir::routing {

// An error object that no rule knows is an answer; HTTP noise that no rule knows is `bad_reply`.
// Never fails, whatever the bytes. A result is the answer and is not looked at.
Verdict classify(const Profile& profile, const CallSent& call, const AttemptOutcome& outcome);
Verdict classify(const Profile& profile, const CallSent& call, const HttpReply& reply);
Verdict classify(const CallSent& call, const TransportFailure& failure);

}  // namespace weir::routing
