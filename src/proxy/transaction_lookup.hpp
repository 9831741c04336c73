// Does any upstream know a transaction? Asked of all that are fit, side by side.
#pragma once

#include "core/time.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/services.hpp"
#include "routing/select.hpp"
#include "routing/snapshot.hpp"
#include "routing/verdict.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace weir::proxy {

struct CallPlan;

struct Lookup {
    enum class Found : std::uint8_t {
        yes,
        no,         // at least one upstream answered, and none knows it
        no_answer,  // nobody could be asked, or nobody answered
    } found = Found::no_answer;
    std::optional<routing::UpstreamIndex> upstream;  // who knows it
    std::string value;                               // raw JSON of what it said
    unsigned attempts = 0;                           // messages sent
};

// What one look at one upstream brought.
enum class Heard : std::uint8_t { found, not_found, nothing };

class LookupListener {
  public:
    virtual void on_look(routing::UpstreamIndex upstream, Heard heard, routing::Cause cause) = 0;

  protected:
    ~LookupListener() = default;
};

// When to look: no look begins after `until`, none goes on after `deadline`.
struct LookupTimes {
    core::TimePoint until;
    core::TimePoint deadline;
};

// Looks for so long from `now` on, the last one as late as leaves it time before `deadline`.
LookupTimes look_within(core::Duration time, core::TimePoint now, core::TimePoint deadline);

struct Question {
    const std::string& hash;
    enum class For : std::uint8_t { transaction, receipt } what;
    LookupTimes times;
    // Once everybody was asked, the word of one of these that it does not know the transaction, or
    // cannot tell, ends the search; else it goes on until its time is over.
    routing::Tried settled_by;
    LookupListener* listener = nullptr;
    const CallPlan* payer = nullptr;  // the call that it is for
};

// Asks each upstream again and again, with pauses, until one knows the transaction or the search
// ends. An answer counts only if the hash in it is the one that was asked for. The references must
// live until the task has ended.
runtime::Task<Lookup> look_up(Services& services, ChainContext& chain, Question question);

}  // namespace weir::proxy
