// One planned call to its answer, whatever its kind: refused, known here, a read, a write, a
// filter.
#pragma once

#include "core/time.hpp"
#include "proxy/answer.hpp"
#include "proxy/attempt.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/exchange.hpp"
#include "proxy/filter_table.hpp"
#include "proxy/plan.hpp"
#include "proxy/services.hpp"
#include "proxy/transaction_records.hpp"
#include "routing/snapshot.hpp"

#include <memory>

namespace weir::proxy {

struct WriteCourse;

// What the calls of one request have in common.
struct RequestScope {
    Services& services;
    ChainContext& chain;
    FilterTable& filters;
    TransactionRecords& records;
    ClientPresence& client;
    std::shared_ptr<const routing::RoutingSnapshot> snapshot;
    core::TimePoint received;
    LongReplies long_replies = LongReplies::buffer;
    WriteCourse* course = nullptr;  // of a batch's writes

    // The same with another client.
    RequestScope with(ClientPresence& other) const {
        return {services, chain, filters, records, other, snapshot, received, long_replies, course};
    }
};

// References must live until the task has ended.
runtime::Task<Answer> run_call(const RequestScope& scope, const CallPlan& plan);

}  // namespace weir::proxy
