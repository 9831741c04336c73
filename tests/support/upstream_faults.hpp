// Everything that can be wrong with a provider's reply, and what the gateway has to make of it.
#pragma once

#include "support/faulty_node.hpp"

#include <string>
#include <vector>

namespace weir::test {

struct UpstreamFault {
    enum class Outcome {
        unusable,  // another upstream's answer; alone bad_upstream_reply
        late,      // another upstream's answer; alone deadline
        usable,    // this one's answer, kOwnResult
        cut,       // begun and never completed, or unusable: too long to be held back for certain
    };
    enum class Reuse {
        never,  // the connection is in doubt
        may,
    };

    std::string name;
    FaultyNode::Script script;
    Outcome outcome = Outcome::unusable;
    Reuse reuse = Reuse::never;
};

// The result of a faulty node's good replies.
extern const std::string kOwnResult;

// For a gateway with `reply_buffer: 64KiB, max_reply: 1MiB`. Redirects go to `trap`, a port.
std::vector<UpstreamFault> upstream_faults(std::uint16_t trap);

}  // namespace weir::test
