// The life of one write: sent to one upstream, once. Another upstream is asked only where it is
// certain that nothing was carried out.
#pragma once

#include "core/time.hpp"
#include "proxy/answer.hpp"
#include "proxy/attempt.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/exchange.hpp"
#include "proxy/plan.hpp"
#include "proxy/services.hpp"
#include "proxy/transaction_records.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace weir::proxy {

// Hears of every attempt of one write.
class SendListener {
  public:
    virtual void on_send(routing::UpstreamIndex upstream) = 0;
    virtual void on_outcome(routing::UpstreamIndex upstream, const Judged& judged) = 0;

  protected:
    ~SendListener() = default;
};

// What the writes of one batch have in common: all go to the upstream that got the first of them.
struct WriteCourse {
    std::optional<routing::UpstreamIndex> upstream;  // nothing: none has been sent
};

struct WriteRequest {
    const CallPlan& plan;
    std::string_view params;
    core::TimePoint deadline;
    std::optional<routing::UpstreamIndex> only;  // binds the call to one upstream
    WriteCourse* course;                         // of its batch, if it has one
    ClientPresence& client;                      // ends its waiting, not its sending
    SendListener* listener = nullptr;
};

// How the sending ended. Either an upstream got the bytes (`upstream` and `judged` are set), or it
// is certain that nothing was carried out and `answer` says why.
struct SentOnce {
    std::optional<routing::UpstreamIndex> upstream;
    Judged judged;
    std::optional<Answer> answer;
    unsigned attempts = 0;
};

// The references must live until the task has ended.
runtime::Task<SentOnce> send_once(Services& services, ChainContext& chain,
                                  std::shared_ptr<const routing::RoutingSnapshot> snapshot,
                                  WriteRequest request);

// A write whose outcome nobody can look up. Where it is unknown, `records` has it.
runtime::Task<Answer> write_once(Services& services, ChainContext& chain,
                                 TransactionRecords& records,
                                 std::shared_ptr<const routing::RoutingSnapshot> snapshot,
                                 WriteRequest request);

}  // namespace weir::proxy
