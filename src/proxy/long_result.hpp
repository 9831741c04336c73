// Passes a long result on as it arrives, checked while it passes.
#pragma once

#include "core/time.hpp"
#include "proxy/answer.hpp"
#include "proxy/exchange.hpp"
#include "proxy/services.hpp"

#include <string_view>

namespace weir::proxy {

enum class Passed {
    whole,
    client_gone,
    broken_off,  // by the upstream
    given_up,    // memory, or the client's speed, did not suffice for the time
};

// Sends the answer to `sink`. Where it does not come to its end, the client's connection is cut
// mid-message, so that it never looks whole.
runtime::Task<Passed> pass_on(Services& services, LongResult& result, std::string_view id,
                              const ResponseHead& head, core::TimePoint deadline,
                              ResponseSink& sink);

}  // namespace weir::proxy
