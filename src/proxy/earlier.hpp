// What an array came to for one of its calls that it did not answer: the call's first attempt.
#pragma once

#include "proxy/answer.hpp"
#include "routing/snapshot.hpp"
#include "routing/verdict.hpp"

#include <optional>

namespace weir::proxy {

struct Earlier {
    routing::UpstreamIndex upstream = 0;
    routing::Cause cause = routing::Cause::bad_reply;
    std::optional<Answer> said;  // an error, or a null that is doubted: for want of anything better
};

}  // namespace weir::proxy
